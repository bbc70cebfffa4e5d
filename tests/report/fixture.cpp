#include "report/fixture.h"

#include <fmt/format.h>

#include <cmath>

namespace headprune::testing {
namespace {

const BlockId kFirst{Kind::encoder, 0}, kSecond{Kind::encoder, 1};

HeadSet some_heads(int64_t count) {
  HeadSet set;
  for (int64_t i = 0; i < count; ++i) set.insert({i < 2 ? kFirst : kSecond, i % 2});
  return set;
}

RunFacts facts() {
  RunFacts facts;
  facts.task = "toy";
  facts.task_type = "classification";
  facts.metrics = {accuracy_fact(), loss_fact()};
  facts.model = "encoder";
  facts.model_args = "d_model=8,layers=2,heads=2";
  facts.blocks = {{kFirst, {0, 1}}, {kSecond, {0, 1}}};
  facts.seeds = {1, 2};
  facts.methods = {{"gradient_l1", "gradient_l1", 1}, {"output_l2", "output_l2", 1}, {"random", "random", 2}};
  facts.sweeps = {"one_shot"};
  facts.tables = {"leave_one_out", "all_but_one", "layer_removed"};
  facts.batch_size = 32;
  facts.bootstrap_iters = 1000;
  facts.splits = {{"score", "train", 400, 400, "aa", ""},
                  {"select", "dev", 50, 50, "bb", "cut from train: 50 examples, seed 1"},
                  {"report", "test", 120, 100, "cc", ""}};
  facts.shared_splits = {{"score", "select"}};
  return facts;
}

void add_scores(Record& record, int64_t seed, const std::string& method, const std::vector<double>& values) {
  RecordedScore& score = record.scores[{seed, method, 0, "", -1}];
  for (size_t layer = 0; layer < 2; ++layer) {
    ScoreBlock block;
    block.seed = seed;
    block.method = method;
    block.block = {Kind::encoder, static_cast<int64_t>(layer)};
    block.heads = {0, 1};
    block.scores = {values[2 * layer], values[2 * layer + 1]};
    block.n = 400;
    if (method == "gradient_l1") block.stderrs = {0.5, std::nullopt};
    score.blocks[block.block] = block;
  }
  ScoreDone done;
  done.seed = seed;
  done.method = method;
  done.direction = "larger = keep";
  done.ties = 2;
  done.examples = 400;
  done.forward = 13;
  done.backward = 13;
  done.dur_s = 1.5;
  score.done = done;
}

void add_seed(Record& record, int64_t seed, double base) {
  const auto add = [&](const PointSpec& spec, const Values& values) -> PointResult& {
    const std::string id = fmt::format("{:016x}", record.points.size() + 1);
    return record.points[id] = point(id, spec, values);
  };
  const double loss = seed == 1 ? 0.5 : 0.7;
  PointSpec none;
  none.seed = seed;
  none.rule = "none";
  add(none, {base, loss, 0, 1});
  for (const std::string method : {"gradient_l1", "random"}) {
    for (int64_t draw = 0; draw < (method == "random" ? 2 : 1); ++draw) {
      const double half = method == "random" ? base - 0.2 - 0.1 * static_cast<double>(draw) : base - 0.05;
      add(sweep_spec(seed, method, draw, 0), {base, loss, 0, 1});
      add(sweep_spec(seed, method, draw, 2), {half, loss + 0.1, half - base, 0.01});
      add(sweep_spec(seed, method, draw, 4), {0.5, 1.0, 0.5 - base, 0.0001});
    }
  }
  for (int64_t head = 0; head < 4; ++head) {
    PointSpec spec;
    spec.seed = seed;
    spec.table = "leave_one_out";
    spec.kind = "encoder";
    spec.layer = head / 2;
    spec.head = head % 2;
    spec.heads_removed = 1;
    const double delta = head == 1 ? -0.2 : head == 2 && seed == 1 ? -0.03 : 0;
    add(spec, {base + delta, loss, delta, head == 1 ? 0.001 : head == 2 && seed == 1 ? 0.02 : 1});
  }
  for (const std::string table : {"all_but_one", "layer_removed"}) {
    for (int64_t layer = 0; layer < 2; ++layer) {
      PointSpec spec;
      spec.seed = seed;
      spec.table = table;
      spec.kind = "encoder";
      spec.layer = layer;
      spec.heads_removed = 2;
      if (table == "all_but_one") spec.heads_removed = 1;
      PointResult& one = add(spec, {base - 0.1, loss + 0.2, -0.1, 0.04});
      if (table == "layer_removed") continue;
      one.kept_head = layer == 0 ? 1 : seed - 1;
      one.removed.insert({{Kind::encoder, layer}, 1 - *one.kept_head});
    }
  }
  add_scores(record, seed, "gradient_l1", {1, 4, 2, seed == 1 ? 3.0 : 0.5});
  add_scores(record, seed, "output_l2", {1, 3, 2, seed == 1 ? 4.0 : 0.25});
}

}  // namespace

MetricFact accuracy_fact() { return {{.name = "accuracy", .range = {0, 1}, .proportion = true}, ""}; }
MetricFact loss_fact() { return {{.name = "loss", .higher_is_better = false, .range = {.low = 0}}, ""}; }

PointSpec sweep_spec(int64_t seed, const std::string& method, int64_t draw, int64_t removed) {
  PointSpec spec;
  spec.seed = seed;
  spec.method = method;
  spec.draw = draw;
  spec.sweep = spec.rule = "one_shot";
  spec.kind = "all";
  spec.heads_removed = removed;
  return spec;
}

PointResult point(const std::string& id, const PointSpec& spec, const Values& values) {
  PointResult result;
  result.point = id;
  result.spec = spec;
  result.step = spec.heads_removed / 2;
  result.scope = spec.sweep.empty() ? "" : "global";
  result.heads_total = spec.table == "all_but_one" || spec.table == "layer_removed" ? 2 : 4;
  result.fraction = static_cast<double>(spec.heads_removed) / static_cast<double>(result.heads_total);
  result.removed = spec.table.empty() ? some_heads(spec.heads_removed) : HeadSet();
  if (!spec.table.empty() && spec.head) result.removed.insert({{Kind::encoder, *spec.layer}, *spec.head});
  result.mask = fmt::format("mask-{}-{}-{}-{}", spec.heads_removed, spec.kind == "all" ? "" : spec.kind,
                            spec.layer.value_or(-1), spec.head.value_or(-1));
  result.params = 1000;
  result.attention_flops_per_token = 64;
  result.forward = 13;
  result.split = "report";
  MetricResult accuracy{"accuracy", {values.accuracy, 100, 0.01, {}, "normal"}, {}};
  accuracy.estimate.ci95 = {values.accuracy - 0.02, values.accuracy + 0.02};
  MetricResult loss{"loss", {values.loss, 100, {}, {}, ""}, {}};
  if (spec.rule != "none") {
    accuracy.difference = Difference{values.delta, 0.005, {}, values.p, "mcnemar"};
    accuracy.difference->ci95 = {values.delta - 0.01, values.delta + 0.01};
  }
  result.metrics = {accuracy, loss};
  return result;
}

Record two_seeds() {
  Record record;
  record.experiment_id = "e0e0";
  record.tool = {{"version", "0.1.0"}, {"git", "abc1234"}, {"dirty", false}, {"compiler", "g++ 12"}};
  record.host = "elsewhere";
  record.started = "2026-01-02T03:04:05.000Z";
  record.ended = "2026-01-02T03:05:05.500Z";
  record.attempts = 1;
  record.events = 99;
  record.fingerprint = {{"threads", 1}, {"device", "cpu"}};
  record.facts = facts();
  add_seed(record, 1, 0.9);
  add_seed(record, 2, 0.8);
  const std::string half = "0000000000000003";  // gradient_l1 at half, seed 1
  record.surgery[half] = {half, 2.5e-7, 1e-5, true};
  record.timing[{half, "intact", 3, 64}] = {half, "intact", 3, 64, 2, {0.06, 0.04, 0.05}};
  record.timing[{half, "removed", 3, 64}] = {half, "removed", 3, 64, 2, {0.02, 0.03, 0.025, 0.025}};
  record.warnings = {{"tied_scores", "2 heads share one score"}};
  record.stages[{"data", -1}] = {"data", std::nullopt, 0.25, 0, 0};
  record.stages[{"model", 1}] = {"model", 1, 20, 100, 100};
  record.stages[{"model", 2}] = {"model", 2, 22, 100, 100};
  record.done = RunDone{"completed", {36, 36, 0, 0}, 60.5};
  record.dur_s = 60.5;
  return record;
}

void add_kind_curves(Record& record) {
  for (const std::string kind : {"cross", "decoder", "encoder"}) {
    for (int64_t step = 0; step < 2; ++step) {
      PointSpec spec;
      spec.seed = 1;
      spec.table = "kind_curve";
      spec.method = "gradient_l1";
      spec.draw = 0;
      spec.kind = kind;
      spec.heads_removed = 4 * (step + 1);
      const double delta = -0.1 * static_cast<double>(step + 1);
      PointResult one = point(fmt::format("{}{}", kind, step), spec, {0.9 + delta, 0.5, delta, 1});
      one.step = step;
      one.heads_total = kind == "cross" ? 15 : 16;
      one.fraction = static_cast<double>(spec.heads_removed) / static_cast<double>(one.heads_total);
      record.points[one.point] = one;
    }
  }
}

Record one_seed() {
  Record record = two_seeds();
  std::erase_if(record.points, [](const auto& entry) { return entry.second.spec.seed == 2; });
  std::erase_if(record.scores, [](const auto& entry) { return entry.first.seed == 2; });
  record.facts->seeds = {1};
  return record;
}

void add_earlier_sweep(Record& record, int64_t step) {
  const auto add = [&](PointSpec spec, const Values& values) {
    spec.at_step = step;
    const std::string id = fmt::format("e{:015x}", record.points.size() + 1);
    record.points[id] = point(id, spec, values);
  };
  add({.seed = 1, .rule = "none"}, {0.6, 2, 0, 1});
  const auto early = [](int64_t removed) {
    PointSpec spec = sweep_spec(1, "gradient_l1", 0, removed);
    spec.sweep = "early";
    return spec;
  };
  add(early(0), {0.6, 2, 0, 1});
  add(early(2), {0.58, 2.1, -0.02, 0.3});
  add(early(4), {0.5, 2.5, -0.1, 0.001});
}

void store_examples(Record& record, const std::filesystem::path& folder) {
  for (auto& [id, point] : record.points) {
    MetricResult& accuracy = point.metrics[0];
    const auto right = static_cast<int64_t>(std::lround(100 * accuracy.estimate.value));
    const int64_t shift = 3 * point.spec.seed + 7 * point.spec.draw.value_or(0);
    accuracy.examples.assign(100, 0);
    for (int64_t i = 0; i < right; ++i) accuracy.examples[static_cast<size_t>((i + shift) % 100)] = 1;
    point.examples_sha256 = write_example_values(folder, point.metrics);
  }
  record.examples = std::make_shared<const ExampleValues>(folder);
}

Record one_model_two_seeds() {
  Record record = one_seed();
  record.facts->seeds = {1, 2};
  record.facts->seeds_differ_in = SeedsDifferIn::nothing;
  std::map<std::string, PointResult> more;
  for (const auto& [id, point] : record.points) {
    PointResult twin = point;
    twin.spec.seed = 2;
    twin.point = "2" + id.substr(1);
    if (twin.spec.method == "random" && twin.spec.heads_removed == 2) twin.metrics[0].estimate.value -= 0.05;
    more[twin.point] = twin;
  }
  record.points.merge(more);
  return record;
}

}  // namespace headprune::testing
