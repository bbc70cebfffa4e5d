// The search for a mask by Fisher information, and scales of what survives.
#include "core/open_file.h"
#include "prune/block_fisher.h"
#include "prune/scale_tuning.h"
#include "score/support.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

constexpr double kScale = 1e-12;

/// Every choice of `count` of `units` places, the one with the least sum of squares of summed gradients.
std::vector<int64_t> least_by_trying(const torch::Tensor& gradients, int64_t count) {
  const int64_t units = gradients.size(1);
  std::vector<int64_t> best;
  double least = INFINITY;
  for (int64_t bits = 0; bits < (1 << units); ++bits) {
    std::vector<int64_t> places;
    for (int64_t u = 0; u < units; ++u)
      if (((bits >> u) & 1) != 0) places.push_back(u);
    if (std::ssize(places) != count) continue;
    const double cost = gradients.index_select(1, torch::tensor(places)).sum(1).square().sum().item<double>();
    if (cost < least) {
      least = cost;
      best = places;
    }
  }
  return best;
}

/// `Subject` as a rule's input.
ScoreInput input_of(const Subject& subject, const std::vector<Batch>& batches, const HeadSet& none) {
  return {.model = *subject.model,
          .task = subject.task,
          .batches = batches,
          .examples = std::ssize(subject.examples),
          .removed = none};
}

/// A host over a subject: takes notes, and knows the score split.
class SearchHost final : public NotingHost {
 public:
  explicit SearchHost(const Subject& subject)
      : NotingHost(subject.model->blocks(), no_scores), subject_(subject), batches_(batches_of(subject.examples, 3)) {}
  void evaluate(Model& model, const PlannedPoint& point) override {
    points.push_back(point);
    weights.push_back(model.attention(0).output().weight.detach().clone());
  }
  ScoreInput score_input(Model&, const HeadSet& removed, HeadUnit unit) override {
    ScoreInput input = input_of(subject_, batches_, removed);
    input.unit = unit;
    return input;
  }
  std::vector<torch::Tensor> weights;

 private:
  const Subject& subject_;
  std::vector<Batch> batches_;
};

}  // namespace

TEST_CASE("heads of a block are rearranged as trying every mask says", "[prune]") {
  for (int64_t seed = 0; seed < 6; ++seed) {
    torch::manual_seed(static_cast<uint64_t>(seed));
    const torch::Tensor gradients = torch::randn({20, 8}, torch::kFloat64);
    const std::vector<bool> free(8, false);
    for (int64_t count = 1; count < 8; ++count) {
      std::vector<int64_t> start;
      for (int64_t u = 0; u < count; ++u) start.push_back(u);
      const std::vector<int64_t> found = rearranged(gradients, start, free);
      CHECK(found == least_by_trying(gradients, count));
      const double cost = gradients.index_select(1, torch::tensor(found)).sum(1).square().sum().item<double>();
      CHECK(block_fisher(gradients, found) == Approx(cost));
    }
  }
}

TEST_CASE("with too many choices exchanges only ever help, and fixed heads stay", "[prune]") {
  torch::manual_seed(3);
  const torch::Tensor gradients = torch::randn({30, 40}, torch::kFloat64);
  std::vector<int64_t> start;
  for (int64_t u = 0; u < 20; ++u) start.push_back(u);
  std::vector<bool> fixed(40, false);
  const std::vector<int64_t> found = rearranged(gradients, start, fixed);
  CHECK(found.size() == 20);
  CHECK(block_fisher(gradients, found) < block_fisher(gradients, start));
  fixed[0] = fixed[39] = true;
  const std::vector<int64_t> held = rearranged(gradients, start, fixed);
  CHECK(std::find(held.begin(), held.end(), 0) != held.end());
  CHECK(std::find(held.begin(), held.end(), 39) == held.end());
}

TEST_CASE("scales are those of scipy's lsmr", "[prune]") {
  const Json golden = read_json(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/damped_scales.json");
  for (const Json& one : golden.at("cases")) {
    std::vector<torch::Tensor> rows;
    for (const Json& row : one.at("gram"))
      rows.push_back(torch::tensor(row.get<std::vector<double>>(), torch::kFloat64));
    const torch::Tensor towards = torch::tensor(one.at("towards").get<std::vector<double>>(), torch::kFloat64);
    const torch::Tensor wanted = torch::tensor(one.at("scales").get<std::vector<double>>(), torch::kFloat64);
    const torch::Tensor found = damped_scales(torch::stack(rows), towards, one.at("damp").get<double>());
    INFO(found << wanted);
    CHECK(torch::allclose(found, wanted, 1e-6, 1e-6));
  }
}

TEST_CASE("gate gradients are those that fisher squares, whatever the batches", "[prune]") {
  const HeadSet none;
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const std::vector<Batch> batches = batches_of(subject.examples, 3), other = batches_of(subject.examples, 2, true);
    const PerBlock gradients = gate_gradients(input_of(subject, batches, none));
    const PerBlock again = gate_gradients(input_of(subject, other, none));
    const Importance fisher = score("fisher", subject);
    for (size_t b = 0; b < gradients.size(); ++b) {
      CHECK(torch::allclose(gradients[b].square().mean(0), fisher.values[b], 1e-9, kScale));
      CHECK(torch::allclose(gradients[b], again[b], 1e-9, kScale));
    }
  }
}

TEST_CASE("nothing removed, scales are 1; a twin that goes doubles the one that stays", "[prune]") {
  const HeadSet none;
  for (const Kind kind : kFamilies) {
    Subject subject = make_subject(kind, torch::kFloat64);
    const std::vector<Batch> batches = batches_of(subject.examples, 3);
    const TunedScales whole = tuned_scales(input_of(subject, batches, none), none, 1);
    for (const torch::Tensor& scales : whole.scales) CHECK(torch::allclose(scales, torch::ones_like(scales)));
    // Heads 0 and 1 of the first block become the same head, and head 2 gives nothing.
    Attention& first = subject.model->attention(subject.model->order().front());
    {
      const torch::NoGradGuard no_gradients;
      const auto slice = [](const torch::Tensor& all, int64_t axis, int64_t head, int64_t width) {
        return all.slice(axis, head * width, (head + 1) * width);
      };
      for (auto* projection : {&first.query(), &first.key()}) {
        slice(projection->weight, 0, 1, 3).copy_(slice(projection->weight, 0, 0, 3));
        if (projection->bias.defined()) slice(projection->bias, 0, 1, 3).copy_(slice(projection->bias, 0, 0, 3));
      }
      slice(first.value().weight, 0, 1, 2).copy_(slice(first.value().weight, 0, 0, 2));
      if (first.value().bias.defined()) slice(first.value().bias, 0, 1, 2).copy_(slice(first.value().bias, 0, 0, 2));
      slice(first.output().weight, 1, 1, 2).copy_(slice(first.output().weight, 1, 0, 2));
      slice(first.output().weight, 1, 2, 2).zero_();
    }
    const size_t at = subject.model->order().front();
    const HeadSet twin({{subject.model->blocks()[at].id, 1}});
    const TunedScales tuned = tuned_scales(input_of(subject, batches, none), twin, 0.001);
    INFO(tuned.scales[at]);
    CHECK(tuned.scales[at][0].item<double>() == Approx(2).epsilon(1e-4));
    CHECK(tuned.scales[at][1].item<double>() == 0);
    CHECK(tuned.forward == 2 * std::ssize(batches) * std::ssize(subject.model->blocks()));
    // Folded into the weights they do what gates of these scales do, and the model gives what it gave with both.
    const auto folded = subject.model->copy();
    fold_scales(*folded, tuned.scales);
    const FrozenModel frozen(*folded);
    const torch::NoGradGuard no_gradients;
    for (const Batch& batch : batches) {
      HeadProbe gates, mask;
      for (const torch::Tensor& scales : tuned.scales) gates.gates.push_back(scales);
      mask.gates = mask_gates(folded->blocks(), twin, torch::kCPU);
      for (torch::Tensor& one : mask.gates)
        if (one.defined()) one = one.to(torch::kFloat64);
      subject.model->eval();
      const torch::Tensor by_gates = subject.model->forward(batch, gates).values;
      CHECK(torch::allclose(folded->forward(batch, mask).values, by_gates, 1e-9, 1e-9));
      CHECK(torch::allclose(by_gates, subject.model->forward(batch).values, 1e-3, 1e-3));
    }
  }
}

TEST_CASE("mask_search has a point for each stage and fraction, and leaves the model alone", "[prune]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  SearchHost host(subject);
  const torch::Tensor before = subject.model->attention(0).output().weight.detach().clone();
  const auto rule = make_rule("{mask_search: {fractions: [0.34, 0.67]}}");
  run(*rule, sweep_input("ms", "mask_search", *subject.model, {}), *subject.model, host);
  REQUIRE(host.points.size() == 6);
  std::vector<std::string> methods;
  for (const PlannedPoint& point : host.points) methods.push_back(point.spec.method);
  CHECK(methods == std::vector<std::string>{"mask_search", "mask_search", "mask_search_rearrange",
                                            "mask_search_rearrange", "mask_search_tune", "mask_search_tune"});
  for (size_t i = 0; i < 6; ++i) {
    CHECK(host.points[i].removed.size() == (i % 2 == 0 ? 2 : 4));
    CHECK(host.points[i].fine_tuned == (i >= 4));
    CHECK(torch::equal(host.weights[i], before) == (i < 4));
  }
  CHECK((host.points[4].removed == host.points[2].removed));
  CHECK(host.points[4].forward == 3 + 2 * 2 * 3);
  CHECK(torch::equal(subject.model->attention(0).output().weight, before));
  CHECK(host.learned.size() == 2);
  // The first stage is the order of fisher.
  const Importance fisher = score("fisher", subject);
  const std::vector<HeadId> order = ascending_order(subject.model->blocks(), fisher.values, {}, {});
  CHECK((host.points[0].removed == HeadSet(std::vector<HeadId>(order.begin(), order.begin() + 2))));

  SearchHost held(subject);
  run(*make_rule("{mask_search: {fractions: [1], protect: [encoder.L0], stages: [search, rearrange]}}"),
      sweep_input("ms", "mask_search", *subject.model, {}), *subject.model, held);
  CHECK(names(held.points.at(1).removed) ==
        std::vector<std::string>{"encoder.L1.H0", "encoder.L1.H1", "encoder.L1.H2"});

  const auto tune_only = make_rule("{mask_search: {fractions: [0.34], stages: [tune]}}");
  SearchHost again(subject);
  run(*tune_only, sweep_input("ms", "mask_search", *subject.model, {}), *subject.model, again);
  REQUIRE(again.points.size() == 1);
  CHECK((again.points[0].removed == host.points[0].removed));
  CHECK_THROWS(make_rule("{mask_search: {stages: [tune, search]}}"));
  CHECK_THROWS(make_rule("{mask_search: {stages: [search], keep_weights: all}}"));
}
