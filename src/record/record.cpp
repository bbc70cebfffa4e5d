#include "record/record.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>

#include "core/error.h"
#include "core/files.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

ScoreKey key_of(int64_t seed, const std::string& method, int64_t draw, const std::string& sweep,
                std::optional<int64_t> step) {
  return {seed, method, draw, sweep, step.value_or(-1)};
}

void apply_start(Record& record, const Json& line) {
  record.experiment_id = read_field<std::string>(line, "experiment_id");
  record.tool = read_field<Json>(line, "tool");
  if (record.tool.contains("dirty")) read_field<bool>(record.tool, "dirty");
  record.host = read_field<std::string>(line, "host");
  record.run_sha256 = read_field<std::string>(line, "sha256");
  record.interrupted.reset();
  record.done.reset();
}

void apply_env(Record& record, const Json& line) {
  Json fingerprint = read_object(line, "fingerprint");
  // These two are shown in columns of their own.
  if (fingerprint.contains("device")) read_field<std::string>(fingerprint, "device");
  if (fingerprint.contains("threads")) read_field<int64_t>(fingerprint, "threads");
  if (!record.fingerprint.is_null() && !fingerprint_diff(record.fingerprint, fingerprint).empty()) {
    record.mixed_fingerprint = true;
  }
  record.fingerprint = std::move(fingerprint);
}

/// What is measured must be of the model that the facts describe. A record without facts is not known to be of any.
void require_heads(const Record& record, const BlockId& id, const std::vector<int64_t>& heads) {
  if (!record.facts) return;
  const Blocks& blocks = record.facts->blocks;
  const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const BlockHeads& one) { return one.id == id; });
  for (const int64_t head : heads)
    if (block == blocks.end() || !std::binary_search(block->heads.begin(), block->heads.end(), head))
      fail(ExitCode::run_failed, "the model has no head {}", to_string(HeadId{id, head}));
}

void apply_score(Record& record, const Json& line) {
  ScoreBlock block = ScoreBlock::from_json(line);
  require_heads(record, block.block, block.heads);
  RecordedScore& score = record.scores[key_of(block.seed, block.method, block.draw, block.sweep, block.step)];
  // Blocks that come after score_done begin the score anew: it is complete again with its next score_done.
  if (score.done || score.to_do_again) score = RecordedScore();
  const BlockId id = block.block;
  score.blocks[id] = std::move(block);
}

void apply_score_done(Record& record, const Json& line) {
  ScoreDone done = ScoreDone::from_json(line);
  record.scores[key_of(done.seed, done.method, done.draw, done.sweep, done.step)].done = std::move(done);
}

void apply_analysis(Record& record, const Json& line) {
  AnalysisBlock block = AnalysisBlock::from_json(line);
  require_heads(record, block.block, block.heads);
  RecordedAnalysis& analysis = record.analyses[{block.seed, block.analysis}];
  if (analysis.done || analysis.to_do_again) analysis = RecordedAnalysis();
  analysis.matrices.clear();  // they follow all blocks; an attempt that was killed may have left some of their rows
  const BlockId id = block.block;
  analysis.blocks[id] = std::move(block);
}

void apply_matrix_row(Record& record, const Json& line) {
  const MatrixRow row = MatrixRow::from_json(line);
  add_row(record.analyses[{row.seed, row.analysis}].matrices, row);
}

void apply_analysis_done(Record& record, const Json& line) {
  AnalysisDone done = AnalysisDone::from_json(line);
  RecordedAnalysis& analysis = record.analyses[{done.seed, done.analysis}];
  int64_t heads = 0;
  for (const auto& [id, block] : analysis.blocks) heads += std::ssize(block.heads);
  require_whole(analysis.matrices, heads);
  analysis.done = std::move(done);
}

void apply_point_done(Record& record, const Json& line) {
  PointResult result = PointResult::from_json(line);
  for (const HeadId& head : result.removed.with(result.fixed).heads()) require_heads(record, head.block, {head.head});
  record.failed.erase(result.point);
  record.skipped.erase(result.point);
  record.points_again.erase(result.point);
  record.started_points[result.point] = result.spec;
  const std::string id = result.point;
  if (result.spec.rule == "none") record.unpruned.insert(id);
  record.points[id] = std::move(result);
}

void apply_point_failed(Record& record, const Json& line) {
  PointFailed failed = PointFailed::from_json(line);
  record.points.erase(failed.point);
  record.skipped.erase(failed.point);
  record.points_again.erase(failed.point);
  const std::string id = failed.point;
  record.failed[id] = std::move(failed);
}

void apply_point_skipped(Record& record, const Json& line) {
  PointSkipped skipped = PointSkipped::from_json(line);
  record.points.erase(skipped.point);
  record.failed.erase(skipped.point);
  const std::string id = skipped.point;
  record.skipped[id] = std::move(skipped);
}

void apply_timing(Record& record, const Json& line) {
  TimingResult timing = TimingResult::from_json(line);
  const auto key = std::make_tuple(timing.point, timing.form, timing.batch_size, timing.sequence_length);
  record.timing[key] = std::move(timing);
}

void apply_stage_done(Record& record, const Json& line) {
  StageDone done = StageDone::from_json(line);
  const auto key = std::make_pair(done.stage, done.seed.value_or(-1));
  record.stages[key] = std::move(done);
}

void apply_checkpoint(Record& record, const Json& line) {
  CheckpointEvent checkpoint = CheckpointEvent::from_json(line);
  const auto key = std::make_pair(checkpoint.seed, checkpoint.step);
  record.checkpoints[key] = std::move(checkpoint);
}

void apply_model(Record& record, const Json& line) {
  ModelEvent model = ModelEvent::from_json(line);
  const int64_t seed = model.seed;
  record.models_again.erase(seed);
  record.models[seed] = std::move(model);
}

void apply_surgery(Record& record, const Json& line) {
  SurgeryResult surgery = SurgeryResult::from_json(line);
  const std::string id = surgery.point;
  if (record.surgery_again.erase(id) > 0)  // its timings are made again too
    std::erase_if(record.timing, [&](const auto& entry) { return std::get<0>(entry.first) == id; });
  record.surgery[id] = std::move(surgery);
}

void apply_from(Record& record, const Json& line) {
  const Stage from = parse_stage(read_field<std::string>(line, "stage"));
  for (const auto& [id, spec] : record.started_points)
    if (stage_of(spec) >= from) record.points_again.insert(id);
  for (auto& [key, score] : record.scores)
    score.to_do_again = score.to_do_again || (key.sweep.empty() ? Stage::score : Stage::prune) >= from;
  for (auto& [key, analysis] : record.analyses) analysis.to_do_again = analysis.to_do_again || Stage::analyse >= from;
  if (Stage::model >= from)
    for (const auto& [seed, model] : record.models) record.models_again.insert(seed);
  if (Stage::surgery >= from)
    for (const auto& [point, result] : record.surgery) record.surgery_again.insert(point);
}

void apply_retry(Record& record, const Json&) {
  for (const auto& [id, failure] : record.failed) record.points_again.insert(id);
}

void apply_facts(Record& record, const Json& line) {
  RunFacts facts = RunFacts::from_json(read_object(line, "facts"));
  const auto same = [](const BlockHeads& a, const BlockHeads& b) { return a.id == b.id && a.heads == b.heads; };
  if (record.facts && !std::equal(facts.blocks.begin(), facts.blocks.end(), record.facts->blocks.begin(),
                                  record.facts->blocks.end(), same))
    fail(ExitCode::run_failed, "the facts describe another model than those before");
  record.facts = std::move(facts);
}

using Handler = std::function<void(Record&, const Json&)>;

/// What each event does to the record. Events of no effect on it (stage_start, later additions) are not listed.
const std::map<std::string, Handler>& handlers() {
  static const std::map<std::string, Handler> table = {
      {"run_start", apply_start},
      {"resumed", apply_start},
      {"from", apply_from},
      {"retry_failed", apply_retry},
      {"env", apply_env},
      {"config", [](Record& r, const Json& line) { r.config_sha256 = read_field<std::string>(line, "sha256"); }},
      {"facts", apply_facts},
      {"stage_done", apply_stage_done},
      {"checkpoint", apply_checkpoint},
      {"model", apply_model},
      {"score", apply_score},
      {"score_done", apply_score_done},
      {"analysis", apply_analysis},
      {"analysis_row", apply_matrix_row},
      {"analysis_done", apply_analysis_done},
      {"point_start",
       [](Record& r, const Json& line) {
         r.started_points[read_field<std::string>(line, "point")] = PointSpec::from_json(read_object(line, "spec"));
       }},
      {"point_done", apply_point_done},
      {"point_failed", apply_point_failed},
      {"point_skipped", apply_point_skipped},
      {"surgery", apply_surgery},
      {"timing", apply_timing},
      {"warn", [](Record& r, const Json& line) { r.warnings.push_back(Warning::from_json(line)); }},
      {"interrupted", [](Record& r, const Json& line) { r.interrupted = InterruptedEvent::from_json(line); }},
      {"run_done", [](Record& r, const Json& line) { r.done = RunDone::from_json(line); }},
  };
  return table;
}

/// Gives points with same_as the metrics of the point they name. One that names a point that is not done (any more) is
/// not done either.
void resolve_same_as(std::map<std::string, PointResult>& points) {
  std::vector<std::string> dangling;
  for (auto& [id, point] : points) {
    const PointResult* source = &point;
    for (size_t hops = 0; !source->same_as.empty() && hops <= points.size(); ++hops) {
      const auto found = points.find(source->same_as);
      if (found == points.end()) break;
      source = &found->second;
    }
    if (source->same_as.empty()) {
      if (source == &point) continue;
      point.metrics = source->metrics;
      point.examples_sha256 = source->examples_sha256;
    } else {
      dangling.push_back(id);
    }
  }
  for (const std::string& id : dangling) points.erase(id);
}

/// A point that leaves a block one head, or one group, is named before that is chosen.
void name_kept_heads(Record& record) {
  if (!record.facts) return;
  for (auto& [id, point] : record.points) {
    const PointSpec& spec = point.spec;
    if (spec.table.empty() || spec.shown() != Shown::blocks || !spec.layer) continue;
    if (spec.heads_removed == point.heads_total) continue;
    const BlockId about{parse_kind(spec.kind), *spec.layer};
    for (const BlockHeads& block : record.facts->blocks) {
      if (block.id != about) continue;
      for (const int64_t head : block.heads) {
        if (point.removed.contains({about, head}) || point.fixed.contains({about, head})) continue;
        if (spec.heads_removed == point.heads_total - 1)
          point.kept_head = head;
        else
          point.kept_group = block.group_of(head);
      }
    }
  }
}

/// An earlier version told masks of one size that were listed by hand apart by a draw, which is for repetitions alone.
void name_listed_masks(Record& record) {
  std::set<std::string> of_masks;
  for (const auto& [id, point] : record.points)
    if (point.spec.rule == "from_file" && point.spec.draw) of_masks.insert(point.spec.sweep);
  for (auto& [id, point] : record.points) {
    if (point.spec.rule != "from_file" || !of_masks.contains(point.spec.sweep)) continue;
    point.spec.name = fmt::format("mask_{}", point.step);
    point.spec.draw.reset();
  }
}

}  // namespace

void RecordBuilder::apply(const Json& line) {
  if (const auto version = read_field<int64_t>(line, "v"); version != 1) {
    fail(ExitCode::run_failed, "it has format version {}; a newer headprune is needed to read it", version);
  }
  const auto seq = read_field<int64_t>(line, "seq");
  if (seq != record_.events + 1) fail(ExitCode::run_failed, "seq {} follows {}", seq, record_.events);
  record_.events = seq;
  const auto time = read_field<std::string>(line, "t");
  const auto attempt = read_field<int64_t>(line, "attempt");
  if (attempt != record_.attempts) attempt_began_ = time;
  if (record_.started.empty()) record_.started = time;
  record_.attempts = attempt;
  record_.ended = time;
  attempt_seconds_[attempt] = unix_seconds(time) - unix_seconds(attempt_began_);
  const auto handler = handlers().find(read_field<std::string>(line, "ev"));
  if (handler != handlers().end()) handler->second(record_, line);
}

Record RecordBuilder::finished() const {
  Record record = record_;
  for (const auto& [attempt, seconds] : attempt_seconds_) record.dur_s += seconds;
  std::sort(record.warnings.begin(), record.warnings.end());
  record.warnings.erase(std::unique(record.warnings.begin(), record.warnings.end()), record.warnings.end());
  resolve_same_as(record.points);
  name_kept_heads(record);
  name_listed_masks(record);
  return record;
}

RecordBuilder record_builder(const std::filesystem::path& path, const FramedLines& content) {
  RecordBuilder builder;
  for (size_t i = 0; i < content.lines.size(); ++i) {
    try {
      builder.apply(content.lines[i]);
    } catch (const Error& error) {
      fail(ExitCode::run_failed, "{}:{}: bad line: {}", path.string(), i + 1, error.what());
    }
  }
  return builder;
}

Record make_record(const std::filesystem::path& path, const FramedLines& content) {
  return record_builder(path, content).finished();
}

Record read_record(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / kJournal;
  if (!std::filesystem::exists(path) && !std::filesystem::exists(run_folder / kRunJson)) {
    fail(ExitCode::usage, "{} is not a run folder: it has neither {} nor {}", run_folder.string(), kJournal, kRunJson);
  }
  Record record = make_record(path, read_framed(path));
  record.examples = std::make_shared<const ExampleValues>(run_folder);
  return record;
}

std::string Record::state() const {
  if (done) return done->state;
  if (interrupted) return "interrupted";
  return attempts == 0 ? "queued" : "running";
}

const PointResult* Record::base(const PointSpec& spec) const {
  const auto is_base = [&](const PointResult& point) {
    return point.spec.rule == "none" && point.spec.seed == spec.seed && point.spec.at_step == spec.at_step;
  };
  for (const std::string& id : unpruned)
    if (const auto found = points.find(id); found != points.end() && is_base(found->second)) return &found->second;
  if (!unpruned.empty()) return nullptr;
  for (const auto& [id, point] : points)  // a record that no journal made
    if (is_base(point)) return &point;
  return nullptr;
}

const RecordedScore* Record::score(const ScoreKey& key) const {
  const auto found = scores.find(key);
  return found == scores.end() || !found->second.done || found->second.to_do_again ? nullptr : &found->second;
}

bool Record::analysed(const AnalysisKey& key) const {
  const auto found = analyses.find(key);
  return found != analyses.end() && found->second.done && !found->second.to_do_again;
}

const PointResult* Record::evaluated(const PointResult& like) const {
  if (like.fine_tuned || like.spec.rule == "none") return nullptr;
  for (const auto& [id, point] : points) {
    if (point.mask != like.mask || point.spec.seed != like.spec.seed || point.spec.at_step != like.spec.at_step)
      continue;
    if (point.same_as.empty() && !point.fine_tuned && point.spec.rule != "none" && !points_again.contains(id))
      return &point;
  }
  return nullptr;
}

std::vector<std::string> Record::interrupted_points() const {
  std::vector<std::string> ids;
  for (const auto& [id, spec] : started_points) {
    if (!points.contains(id) && !failed.contains(id) && !skipped.contains(id)) ids.push_back(id);
  }
  return ids;
}

bool Record::stage_done(const std::string& stage, std::optional<int64_t> seed) const {
  return stages.contains({stage, seed.value_or(-1)});
}

double unix_seconds(const std::string& time) {
  using namespace std::chrono;
  // 2026-01-02T03:04:05.678Z
  const auto number = [&](size_t begin, size_t length) {
    int value = -1;
    const char* first = time.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    return error == std::errc() && end == first + length ? value : -1;
  };
  if (time.size() == 24 && time[10] == 'T' && time[19] == '.' && time[23] == 'Z') {
    const year_month_day date{year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                              day(static_cast<unsigned>(number(8, 2)))};
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2), milli = number(20, 3);
    if (date.ok() && hour >= 0 && minute >= 0 && second >= 0 && milli >= 0) {
      const auto total = sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) + seconds(second);
      return static_cast<double>(duration_cast<milliseconds>(total).count() + milli) / 1000.0;
    }
  }
  fail(ExitCode::run_failed, "'{}' is not a time like 2026-01-02T03:04:05.678Z", time);
}

}  // namespace headprune
