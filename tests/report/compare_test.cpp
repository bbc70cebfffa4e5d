#include "report/compare/compare.h"

#include <set>

#include "core/files.h"
#include "record/run_folder.h"
#include "report/fixture.h"
#include "report/numbers/groups.h"
#include "report/numbers/sweeps.h"
#include "report/stored_run.h"
#include "report/tables/sweep_rows.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

const CompareRow& row_of(const RunComparison& comparison, const std::string& key) {
  for (const CompareRow& row : comparison.rows) {
    if (row.key == key) return row;
  }
  throw std::runtime_error("no row " + key);
}

}  // namespace

TEST_CASE("seeds that both runs have are paired", "[compare]") {
  const TestFolder folder;
  Record changed = two_seeds();
  for (auto& [id, point] : changed.points) {
    if (point.spec.rule == "none") point.metrics[0].estimate.value += point.spec.seed == 1 ? 0.01 : 0.03;
  }
  store_run(folder / "a", two_seeds());
  store_run(folder / "b", changed);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const Difference& change = *row_of(comparison, "base/accuracy").changes[1];
  CHECK(change.test == "crossed_t");
  CHECK(change.delta == Approx(0.02));
  CHECK(change.p.value() == Approx(0.2952).epsilon(1e-3));  // t(1) = 2
  // sd of 0.01 and 0.03 is 0.014142, over sqrt(2) 0.01; t(1) = 12.7062
  CHECK((*change.ci95)[1] == Approx(0.02 + 0.127062).epsilon(1e-4));
  CHECK_FALSE(row_of(comparison, "base/loss").differs());
  const std::string text = document_text(comparison_document(comparison, false), 100);
  CHECK_THAT(text, ContainsSubstring("base/accuracy"));
  CHECK(text.find("base/loss") == std::string::npos);
  CHECK_THAT(document_text(comparison_document(comparison, true), 100), ContainsSubstring("base/loss"));
  REQUIRE(comparison.rankings.size() == 2);
  CHECK(comparison.rankings[0].spearman.value() == Approx(1));
  CHECK(comparison.rankings[0].topk.value() == Approx(1));
}

TEST_CASE("without pairs there is no interval and no star", "[compare]") {
  const TestFolder folder;
  Record changed = one_seed();
  for (auto& [id, point] : changed.points) {
    if (point.spec.rule == "none") point.metrics[0].estimate.value += 0.05;
  }
  store_run(folder / "a", one_seed());
  store_run(folder / "b", changed);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const Difference& change = *row_of(comparison, "base/accuracy").changes[1];
  CHECK(change.delta == Approx(0.05));
  CHECK(change.test.empty());
  CHECK_FALSE(change.ci95);
  const std::string text = document_text(comparison_document(comparison, false), 200);
  CHECK(text.find("]*") == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("Rows without an interval: nothing pairs up"));
}

TEST_CASE("runs of other seeds are compared by Welch's test", "[compare]") {
  const TestFolder folder;
  Record others = two_seeds();
  for (auto* points : {&others.points}) {
    for (auto& [id, point] : *points) {
      point.spec.seed += 2;
      if (point.spec.rule == "none") point.metrics[0].estimate.value += point.spec.seed == 3 ? 0.01 : 0.03;
    }
  }
  others.facts->seeds = {3, 4};
  others.scores.clear();
  store_run(folder / "a", two_seeds());
  store_run(folder / "b", others);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const Difference& change = *row_of(comparison, "base/accuracy").changes[1];
  CHECK(change.test == "welch");
  CHECK(change.delta == Approx(0.02));
  CHECK(change.p.value() > 0.5);  // 0.9, 0.8 against 0.91, 0.83
  for (const CompareRow& row : comparison.rows) CHECK_FALSE((row.q[1] && *row.q[1] < 0.05));
  // Other seeds trained other models: nothing is said of single heads.
  CHECK_FALSE(comparison.heads_shared[0]);
  CHECK(comparison.rankings.empty());
  CHECK_THAT(document_text(comparison_document(comparison, false), 200),
             ContainsSubstring("have other seeds, which are other models"));
}

TEST_CASE("runs on other test sets have no test, whatever their seeds and orders", "[compare]") {
  const TestFolder folder;
  Record other = two_seeds();
  other.facts->splits.back().sha256 = "dd";
  for (auto& [id, point] : other.points) point.metrics[0].estimate.value -= point.spec.seed == 1 ? 0.1 : 0.11;
  store_run(folder / "a", two_seeds());
  store_run(folder / "b", other);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  for (const CompareRow& row : comparison.rows) {
    INFO(row.key);
    if (row.key.starts_with("agreement/") || !row.changes[1]) continue;
    CHECK_FALSE(row.changes[1]->ci95);
    CHECK_FALSE(row.q[1]);
  }
}

TEST_CASE("rankings of models of other sizes are not compared", "[compare]") {
  const TestFolder folder;
  Record larger = one_seed();
  larger.facts->blocks[1].heads = {0, 1, 2, 3};
  store_run(folder / "a", one_seed());
  store_run(folder / "b", larger);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  CHECK(comparison.rankings.empty());
  CHECK_FALSE(row_of(comparison, "sensitivity/leave_one_out/encoder.L0.H0/accuracy").changes[1]);
}

TEST_CASE("one model each on the same examples is paired example by example", "[compare]") {
  const TestFolder folder;
  for (const int64_t right : {90, 80}) {
    Record record = one_seed();
    const fs::path run = folder / std::to_string(right);
    make_folders(run);
    for (auto& [id, point] : record.points)
      if (point.spec.rule == "none") point.metrics[0].estimate.value = static_cast<double>(right) / 100;
    store_examples(record, run);
    store_run(run, record);
  }
  const RunComparison comparison = compare_runs({(folder / "90").string(), (folder / "80").string()});
  const Difference& change = *row_of(comparison, "base/accuracy").changes[1];
  CHECK(change.test == "mcnemar");
  CHECK(change.delta == Approx(-0.1));
  CHECK(change.p.value() == Approx(2.0 / 1024));  // ten lost, none gained: 2 * (1/2)^10
}

TEST_CASE("one comparison of many that differ in their masks has the q of many", "[compare]") {
  const TestFolder folder;
  int64_t points = 0;
  for (const char* name : {"a", "b"}) {
    Record record = one_seed();
    make_folders(folder / name);
    for (auto& [id, point] : record.points) {
      point.mask = mask_sha256(record.facts->blocks, point.removed);
      point.metrics[0].estimate.value = 0.9;
    }
    points = 0;
    std::set<std::string> masks;
    for (auto& [id, point] : record.points) {
      if (is_random(record, point.spec.method)) continue;
      masks.insert(point.mask);
    }
    points = std::ssize(masks);
    // One head alone loses ten examples in b; nothing else changes.
    for (auto& [id, point] : record.points)
      if (std::string(name) == "b" && point.spec.table == "leave_one_out" && point.spec.layer == 0 &&
          point.spec.head == 1)
        point.metrics[0].estimate.value = 0.8;
    store_examples(record, folder / name);
    store_run(folder / name, record);
  }
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const CompareRow& row = row_of(comparison, "sensitivity/leave_one_out/encoder.L0.H1/accuracy");
  REQUIRE(row.changes[1]->p);
  REQUIRE(*row.changes[1]->p == Approx(2.0 / 1024));
  // Its family has at least every mask of the sweeps and tables; by equal values and p alone it would have two.
  CHECK(*row.q[1] >= *row.changes[1]->p * static_cast<double>(points - 1));
}

TEST_CASE("areas of one model each are no proportions, and get no floor meant for those", "[compare]") {
  const TestFolder folder;
  for (const char* name : {"a", "b"}) {
    Record record = one_seed();
    make_folders(folder / name);
    store_examples(record, folder / name);
    store_run(folder / name, record);
  }
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const Difference& area = *row_of(comparison, "auc/gradient_l1/one_shot/accuracy").changes[1];
  CHECK(area.delta == 0);
  CHECK_FALSE(area.stderr_);  // equal on every example, by which nothing is known of others
  CHECK_FALSE(area.ci95);
  CHECK(row_of(comparison, "base/accuracy").changes[1]->ci95);  // Bonett and Price's
}

TEST_CASE("one random order on either side is compared without an interval", "[compare]") {
  const TestFolder folder;
  for (const char* name : {"a", "b"}) {
    Record record = one_seed();
    std::erase_if(record.points, [](const auto& entry) { return entry.second.spec.draw == 1; });
    make_folders(folder / name);
    if (std::string(name) == "b")
      for (auto& [id, point] : record.points) point.metrics[0].estimate.value -= 0.1;
    store_examples(record, folder / name);
    store_run(folder / name, record);
  }
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  for (const char* key : {"curve/random/one_shot/0.5/accuracy", "auc/random/one_shot/accuracy"}) {
    INFO(key);
    const Difference& change = *row_of(comparison, key).changes[1];
    CHECK(change.delta == Approx(-0.1));
    CHECK_FALSE(change.ci95);
    CHECK_FALSE(change.p);
  }
  // With every head gone there is one mask, whatever the order.
  CHECK(row_of(comparison, "curve/random/one_shot/1/accuracy").changes[1]->ci95);
}

TEST_CASE("runs of different experiments are compared, and what only one has is shown", "[compare]") {
  const TestFolder folder;
  Record other = two_seeds();
  other.experiment_id = "f1f1";
  std::erase_if(other.points, [](const auto& entry) { return entry.second.spec.table == "layer_removed"; });
  store_run(folder / "a", two_seeds());
  store_run(folder / "b", other);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  CHECK_FALSE(comparison.differences[0].same_experiment);
  const CompareRow& row = row_of(comparison, "sensitivity/layer_removed/encoder.L0/accuracy");
  CHECK(row.differs());
  CHECK_FALSE(row.values[1]);
  CHECK_THAT(document_markdown(comparison_document(comparison, false)), ContainsSubstring("two experiments"));
  const Json json = parse_json(dump_json(comparison_json(comparison)), "comparison");
  CHECK(json["runs"].size() == 2);
}

TEST_CASE("areas over other fractions have no difference, and the comparison says so", "[compare]") {
  const TestFolder folder;
  Record shorter = one_seed();
  std::erase_if(shorter.points, [](const auto& entry) {
    return entry.second.spec.method == "gradient_l1" && entry.second.spec.heads_removed == 4;
  });
  store_run(folder / "a", one_seed());
  store_run(folder / "b", shorter);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  const CompareRow& row = row_of(comparison, "auc/gradient_l1/one_shot/accuracy");
  CHECK(row.values[0]->range == "0 to 1");
  CHECK(row.values[1]->range == "0 to 0.5");
  CHECK_FALSE(row.changes[1]);
  CHECK_THAT(document_text(comparison_document(comparison, false), 200),
             ContainsSubstring("The areas cover the fractions 0 to 0.5, 0 to 1"));
  const Sweep sweep = sweeps_of(comparison.runs[1].record).front();
  CHECK_THAT(areas_sentence(comparison.runs[1].record, sweep, "accuracy"),
             ContainsSubstring("from fraction 0 to 0.5:") && ContainsSubstring("(over 0 to 1)"));
}

TEST_CASE("rankings are compared over the seeds that both runs have, beside how far either agrees with itself",
          "[compare]") {
  const TestFolder folder;
  Record one = one_seed(), both = two_seeds();
  for (Record* record : {&one, &both})
    for (auto& [key, score] : record->scores) {
      if (key.method != "gradient_l1") continue;
      // 1 4 2 3 against 2 4 3 1: rho 0.4; against itself 1.
      const bool stable = record == &both;
      score.blocks.at({Kind::encoder, 0}).halves = {std::vector<double>{1, 4},
                                                    stable ? std::vector<double>{1, 4} : std::vector<double>{2, 4}};
      score.blocks.at({Kind::encoder, 1}).halves = {std::vector<double>{2, 3},
                                                    stable ? std::vector<double>{2, 3} : std::vector<double>{3, 1}};
    }
  one.facts->seeds = {1};
  store_run(folder / "a", one);
  store_run(folder / "b", both);
  const RunComparison comparison = compare_runs({(folder / "a").string(), (folder / "b").string()});
  CHECK(comparison.started_alike[0]);
  CHECK_FALSE(comparison.heads_shared[0]);
  REQUIRE(comparison.rankings.size() == 2);
  CHECK(comparison.rankings[0].seeds == 1);
  CHECK(comparison.rankings[0].spearman.value() == Approx(1));
  CHECK(comparison.rankings[0].lower_own.value() == Approx(0.4));
  CHECK_FALSE(comparison.rankings[1].lower_own);  // output_l2 kept no halves
  CHECK_THAT(document_text(comparison_document(comparison, false), 200),
             ContainsSubstring("lower own rho") && ContainsSubstring("only over the seeds that both have"));
}

TEST_CASE("models trained on data generated otherwise share no heads", "[compare]") {
  const TestFolder folder;
  for (const char* run : {"a", "b", "c"}) store_run(folder / run, one_seed());
  write_file(folder / "a" / kConfig, "name: toy\ndata: {type: synthetic, noise: 0.1, limit: {score: 100}}\n");
  write_file(folder / "b" / kConfig, "name: toy\ndata: {type: synthetic, noise: 0.2, limit: {score: 100}}\n");
  write_file(folder / "c" / kConfig, "name: toy\ndata: {type: synthetic, noise: 0.1, limit: {score: 50}}\n");
  const auto path = [&](const char* run) { return (folder / run).string(); };
  const RunComparison comparison = compare_runs({path("a"), path("b"), path("c")});
  CHECK_FALSE(comparison.heads_shared[0]);  // other texts to learn from
  CHECK(comparison.heads_shared[1]);        // other texts to score on
  for (const RankingAgreement& ranking : comparison.rankings) CHECK(ranking.run == 2);
}
