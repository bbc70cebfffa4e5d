#include "record/journal.h"

#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "record/run_folder.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

PointSpec base_spec() {
  PointSpec spec;
  spec.seed = 1;
  spec.rule = "none";
  return spec;
}

PointSpec sweep_spec(int64_t heads_removed) {
  PointSpec spec;
  spec.seed = 1;
  spec.method = "gradient_l1";
  spec.draw = 0;
  spec.sweep = spec.rule = "one_shot";
  spec.kind = "all";
  spec.heads_removed = heads_removed;
  return spec;
}

PointResult point(const PointSpec& spec, double accuracy) {
  PointResult result;
  result.spec = spec;
  result.point = point_id("exp", spec);
  result.heads_total = 4;
  result.split = "report";
  result.metrics.push_back({"accuracy", {accuracy, 10, {}, {}, ""}, std::nullopt});
  return result;
}

ScoreBlock block(int64_t layer, double score) {
  return {1, "gradient_l1", 0, {Kind::encoder, layer}, {0, 1}, {score, 1.0}, {}, 10, "", {}};
}

ScoreDone score_done() { return {1, "gradient_l1", 0, "larger = keep", 0, 10, 2, 2, 0.5, "", {}}; }

Json fingerprint(int threads) { return {{"threads", threads}, {"tool_git", "abc"}}; }

/// A first attempt that goes through every kind of event.
void write_attempt(const fs::path& folder) {
  Journal journal(folder);
  journal.run_start("exp", "run-hash");
  journal.env(fingerprint(1));
  journal.config("config-hash");
  journal.stage_start({"model", 1});
  journal.checkpoint({1, 200, "train/seed-1/checkpoint-000200", "m"});
  journal.model({1, 200, "model", "m"});
  journal.stage_done({"model", 1, 2.5, 4, 4});
  journal.score(block(1, 0.25));
  journal.score(block(0, 0.5));
  journal.score_done(score_done());
  journal.point_start(point_id("exp", base_spec()), base_spec());
  journal.point_done(point(base_spec(), 0.75));
  PointResult same = point(sweep_spec(0), 0);
  same.same_as = point_id("exp", base_spec());
  journal.point_start(same.point, same.spec);
  journal.point_done(same);
  journal.point_start(point_id("exp", sweep_spec(1)), sweep_spec(1));
  journal.point_failed({point_id("exp", sweep_spec(1)), "error", "m"});
  journal.point_skipped({point_id("exp", sweep_spec(2)), "max_failures"});
  journal.surgery({same.point, 1e-7, 1e-5, true});
  journal.timing({same.point, "masked", 16, 64, 3, {0.5}});
  journal.warn({"tied_scores", "b"});
  journal.warn({"shared_splits", "a"});
  journal.warn({"tied_scores", "b"});
  journal.run_done({"partial", {4, 2, 1, 1}, 3.5});
}

}  // namespace

TEST_CASE("rows of a matrix belong to their analysis, and an attempt that was killed leaves none", "[record]") {
  const TestFolder folder;
  const auto write = [](Journal& journal, bool to_the_end) {
    for (const int64_t layer : {0, 1})
      journal.analysis({.seed = 1, .analysis = "near", .block = {Kind::encoder, layer}, .heads = {0}, .columns = {}});
    for (const char* name : {"js", "cka"}) {
      journal.analysis_row({.seed = 1, .analysis = "near", .matrix = name, .cut = 0.5, .values = {0}});
      if (!to_the_end) return;
      journal.analysis_row({.seed = 1, .analysis = "near", .matrix = name, .cut = 0.5, .values = {0.25, 0}});
    }
    journal.analysis_done({.seed = 1, .analysis = "near", .roles = {}, .strengths = {}, .tables = {}, .notes = {}});
  };
  {
    Journal journal(folder.path());
    journal.run_start("exp", "run-hash");
    write(journal, false);
  }
  {
    Journal journal(folder.path());
    journal.run_start("exp", "run-hash");
    write(journal, true);
  }
  const Record record = read_record(folder.path());
  REQUIRE(record.analyses.size() == 1);
  const RecordedAnalysis& analysis = record.analyses.begin()->second;
  REQUIRE(analysis.matrices.size() == 2);
  CHECK(analysis.matrices[1].name == "cka");
  CHECK(analysis.matrices[0].cut == 0.5);
  CHECK(analysis.matrices[0].values() == std::vector<double>{0, 0.25, 0.25, 0});
}

TEST_CASE("a journal is read back as one record", "[record]") {
  const TestFolder folder;
  write_attempt(folder.path());
  const Record record = read_record(folder.path());
  CHECK(record.experiment_id == "exp");
  CHECK(record.attempts == 1);
  CHECK(record.run_sha256 == "run-hash");
  CHECK(record.config_sha256 == "config-hash");
  CHECK(record.fingerprint == fingerprint(1));
  CHECK_FALSE(record.mixed_fingerprint);
  CHECK(record.state() == "partial");
  CHECK(record.stage_done("model", 1));
  CHECK_FALSE(record.stage_done("model", 2));
  CHECK_FALSE(record.stage_done("score", 1));
  REQUIRE(record.scores.size() == 1);
  const RecordedScore& score = record.scores.at({1, "gradient_l1", 0, "", -1});
  REQUIRE(score.done);
  REQUIRE(score.blocks.size() == 2);
  CHECK(score.blocks.begin()->second.scores[0] == 0.5);
  CHECK(record.checkpoints.at({1, 200}).path == "train/seed-1/checkpoint-000200");
  CHECK(record.models.at(1).step == 200);
  REQUIRE(record.base({.seed = 1}) != nullptr);
  CHECK(record.base({.seed = 1})->metric("accuracy")->estimate.value == 0.75);
  CHECK(record.base({.seed = 2}) == nullptr);
  CHECK(record.base({.seed = 1, .at_step = 10}) == nullptr);  // another model
  // same_as takes the metrics of the point that was evaluated.
  CHECK(record.points.at(point_id("exp", sweep_spec(0))).metric("accuracy")->estimate.value == 0.75);
  CHECK(record.failed.at(point_id("exp", sweep_spec(1))).reason == "error");
  CHECK(record.skipped.contains(point_id("exp", sweep_spec(2))));
  CHECK(record.surgery.begin()->second.ok);
  CHECK(record.timing.size() == 1);
  CHECK(record.warnings == std::vector<Warning>{{"shared_splits", "a"}, {"tied_scores", "b"}});
  CHECK(record.interrupted_points().empty());
}

TEST_CASE("every prefix of a journal is a state from which a run continues", "[record]") {
  set_log_level(LogLevel::off);  // or every torn tail is announced
  const TestFolder whole;
  write_attempt(whole.path());
  const std::string text = read_file(whole.path() / kJournal);
  const TestFolder folder;
  size_t step = 1;
  for (size_t bytes = 0; bytes <= text.size(); bytes += step) {
    // Every byte of the last line, some of those before it.
    step = bytes + 180 > text.size() ? 1 : 61;
    write_file(folder.path() / kJournal, text.substr(0, bytes));
    const Record before = read_record(folder.path());
    const auto whole_lines = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(bytes), '\n');
    REQUIRE(before.events == whole_lines);
    {
      Journal journal(folder.path());
      REQUIRE(journal.attempt() == (whole_lines == 0 ? 1 : 2));
      journal.run_start("exp", "run-hash");
    }
    const Record after = read_record(folder.path());
    REQUIRE(after.events == whole_lines + 1);
    REQUIRE(after.points.size() == before.points.size());
    REQUIRE(after.state() == "running");
  }
  set_log_level(LogLevel::info);
}

TEST_CASE("the later event for a point, a score or a state wins", "[record]") {
  const TestFolder folder;
  write_attempt(folder.path());
  Journal journal(folder.path());
  CHECK(journal.record().state() == "partial");
  journal.run_start("exp", "run-hash");
  CHECK(read_record(folder.path()).state() == "running");
  journal.env(fingerprint(2));
  journal.score(block(0, 0.125));
  CHECK_FALSE(read_record(folder.path()).scores.begin()->second.done);
  journal.score(block(1, 0.0625));
  journal.score_done(score_done());
  const std::string retried = point_id("exp", sweep_spec(1));
  journal.point_start(retried, sweep_spec(1));
  journal.point_done(point(sweep_spec(1), 0.5));
  journal.warn({"tied_scores", "b"});
  journal.interrupted({"SIGTERM", "prune"});
  const Record record = read_record(folder.path());
  CHECK(record.attempts == 2);
  CHECK(record.state() == "interrupted");
  CHECK(record.mixed_fingerprint);
  CHECK(record.scores.begin()->second.blocks.begin()->second.scores[0] == 0.125);
  CHECK(record.points.at(retried).metric("accuracy")->estimate.value == 0.5);
  CHECK(record.failed.empty());
  CHECK(record.warnings.size() == 2);
}

TEST_CASE("a point that only repeats a failed one is not done", "[record]") {
  const TestFolder folder;
  write_attempt(folder.path());
  Journal journal(folder.path());
  journal.run_start("exp", "run-hash");
  journal.point_failed({point_id("exp", base_spec()), "error", "m"});
  const Record record = read_record(folder.path());
  CHECK(record.points.empty());
  CHECK(record.interrupted_points() == std::vector<std::string>{point_id("exp", sweep_spec(0))});
}

TEST_CASE("a gap in seq, a newer version or a bad field names file and line", "[record]") {
  const TestFolder folder;
  const fs::path path = folder.path() / kJournal;
  const auto line = [](int v, int seq) {
    return frame_line(
        {{"v", v}, {"seq", seq}, {"t", "2026-01-02T03:04:05.678Z"}, {"attempt", 1}, {"ev", "stage_start"}});
  };
  const auto message = [&](const std::string& text) -> std::string {
    write_file(path, text);
    try {
      read_record(folder.path());
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::run_failed);
      return error.what();
    }
    return "";
  };
  CHECK(message(line(1, 1) + line(1, 2)).empty());
  CHECK_THAT(message(line(1, 1) + line(1, 3)), ContainsSubstring("journal.jsonl:2: ") && ContainsSubstring("seq 3"));
  CHECK_THAT(message(line(1, 2)), ContainsSubstring("journal.jsonl:1: "));
  CHECK_THAT(message(line(2, 1)), ContainsSubstring("newer headprune"));
  CHECK_THAT(message(line(1, 1) + frame_line({{"v", 1},
                                              {"seq", 2},
                                              {"t", "2026-01-02T03:04:05.678Z"},
                                              {"attempt", 1},
                                              {"ev", "warn"},
                                              {"code", 3},
                                              {"message", "x"}})),
             ContainsSubstring("journal.jsonl:2: ") && ContainsSubstring("'code'"));
}

TEST_CASE("a message of any length and content fits into a line", "[record]") {
  const TestFolder folder;
  Journal journal(folder.path());
  journal.run_start("exp", "run-hash");
  journal.point_failed({"9f", "error", std::string(100000, '\x01')});
  journal.warn({"long", std::string(100000, 'w')});
  const Record record = read_record(folder.path());
  CHECK(record.failed.at("9f").message.size() < 10000);
  CHECK(record.warnings.at(0).message.size() < 10000);
}

TEST_CASE("a folder that holds no run is refused", "[record]") {
  const TestFolder folder;
  CHECK_THROWS_AS(read_record(folder.path()), Error);
}

TEST_CASE("times are read as seconds since 1970", "[record]") {
  CHECK(unix_seconds("1970-01-01T00:00:00.000Z") == 0);
  CHECK(unix_seconds("2026-01-02T03:04:05.678Z") == Approx(1767323045.678).epsilon(1e-15));  // date -u +%s
  CHECK_THROWS_AS(unix_seconds("yesterday"), Error);
}

TEST_CASE("the record grows with the journal, and is what the file gives", "[record]") {
  const TestFolder folder;
  write_attempt(folder.path());
  Journal journal(folder.path());
  journal.run_start("exp", "run-hash");
  const std::string failed = point_id("exp", sweep_spec(1)), done = point_id("exp", sweep_spec(0));
  CHECK(journal.record().settled(failed));
  CHECK(journal.record().settled(done));
  CHECK_FALSE(journal.record().settled(point_id("exp", sweep_spec(3))));
  PointResult third = point(sweep_spec(3), 0.25);
  third.mask = "three";
  journal.point_start(third.point, third.spec);
  journal.point_done(third);
  CHECK(journal.record().settled(third.point));
  const Record live = journal.finished_record(), stored = read_record(folder.path());
  CHECK(live.events == stored.events);
  CHECK(live.warnings == stored.warnings);
  REQUIRE(live.points.size() == stored.points.size());
  for (const auto& [id, one] : stored.points) {
    CHECK(live.points.at(id).to_json() == one.to_json());
    CHECK(live.points.at(id).metrics.size() == one.metrics.size());
  }
  journal.warn({"tied_scores", "b"});  // said before
  CHECK(journal.record().events == stored.events);
}

TEST_CASE("a mask is evaluated once for a seed's weights", "[record]") {
  const TestFolder folder;
  Journal journal(folder.path());
  journal.run_start("exp", "run-hash");
  PointResult base = point(base_spec(), 0.75), first = point(sweep_spec(1), 0.5), tuned = point(sweep_spec(2), 0.5);
  base.mask = "none";
  first.mask = "m";
  tuned.mask = "t";
  tuned.fine_tuned = true;
  for (const PointResult& one : {base, first, tuned}) journal.point_done(one);
  PointResult like = point(sweep_spec(3), 0);
  const auto evaluated = [&](const std::string& mask) {
    like.mask = mask;
    return journal.record().evaluated(like);
  };
  REQUIRE(evaluated("m") != nullptr);
  CHECK(evaluated("m")->point == first.point);
  CHECK(evaluated("none") == nullptr);  // compared with nothing
  CHECK(evaluated("t") == nullptr);     // other weights
  like.spec.at_step = 5;
  CHECK(evaluated("m") == nullptr);
  like.spec.at_step.reset();
  like.spec.seed = 2;
  CHECK(evaluated("m") == nullptr);
  like.spec.seed = 1;
  like.fine_tuned = true;
  CHECK(evaluated("m") == nullptr);
}

TEST_CASE("what is to be done again stands until it is", "[record]") {
  const auto attempt = [](const TestFolder& folder, auto mark) {
    write_attempt(folder.path());
    Journal journal(folder.path());
    journal.run_start("exp", "run-hash");
    PointResult third = point(sweep_spec(3), 0.5);
    third.mask = "three";
    journal.point_done(third);
    mark(journal);
    return read_record(folder.path());
  };
  const std::string base = point_id("exp", base_spec()), sweep = point_id("exp", sweep_spec(0)),
                    failed = point_id("exp", sweep_spec(1));
  const ScoreKey score{1, "gradient_l1", 0, "", -1};
  PointResult like = point(sweep_spec(4), 0);
  like.mask = "three";
  const TestFolder one, two, three, four;
  const Record late = attempt(one, [](Journal& journal) { journal.start_from(Stage::sensitivity); });
  CHECK((late.settled(base) && late.settled(sweep) && late.settled(failed) && late.evaluated(like) != nullptr));
  CHECK((late.score(score) != nullptr && late.has_model(1)));
  CHECK(late.surgery_again.size() == 1);
  const Record prune = attempt(two, [](Journal& journal) { journal.start_from(Stage::prune); });
  CHECK((prune.settled(base) && !prune.settled(sweep) && !prune.settled(failed) && prune.score(score) != nullptr));
  CHECK(prune.evaluated(like) == nullptr);  // would be evaluated again itself
  CHECK(prune.points.size() == late.points.size());
  const Record model = attempt(three, [](Journal& journal) { journal.start_from(Stage::model); });
  CHECK((!model.settled(base) && model.score(score) == nullptr && !model.has_model(1)));
  CHECK((model.points.contains(base) && model.scores.size() == 1 && model.models.size() == 1));
  Journal journal(three.path());
  journal.run_start("exp", "run-hash");
  journal.model({1, 300, "model", "n"});
  journal.score(block(0, 0.125));
  CHECK(journal.record().score(score) == nullptr);
  journal.score_done(score_done());
  journal.point_done(point(base_spec(), 0.5));
  journal.surgery({sweep, 2e-7, 1e-5, true});
  CHECK((journal.record().has_model(1) && journal.record().score(score) != nullptr && journal.record().settled(base)));
  CHECK(journal.record().timing.empty());  // of the heads that were removed before
  const Record retried = attempt(four, [](Journal& other) { other.retry_failed(); });
  CHECK((!retried.settled(failed) && retried.settled(sweep) && retried.failed.contains(failed)));
}
