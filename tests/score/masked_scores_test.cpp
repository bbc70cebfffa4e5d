// Scores that take heads away, against losses of the model under gates.
#include <cmath>

#include "score/support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Mean loss of the examples, each alone, under gates.
double loss_without(const Subject& subject, const HeadSet& removed) {
  const torch::NoGradGuard no_grad;
  subject.model->eval();
  double sum = 0;
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    const Batch batch = make_batch(subject.examples, {static_cast<int64_t>(i)}, torch::kCPU);
    HeadProbe probe;
    probe.gates = mask_gates(subject.model->blocks(), removed, torch::kCPU);
    for (torch::Tensor& gates : probe.gates)
      if (gates.defined()) gates = gates.to(torch::kFloat64);
    sum += subject.task.example_losses(subject.model->forward(batch, probe).values, batch).sum().item<double>();
  }
  subject.model->train();
  return sum / static_cast<double>(subject.examples.size());
}

/// Every subset's worth, then the definition: the mean over orders, by the sizes of the sets before a head.
std::vector<double> exact_shapley(const Subject& subject, const std::vector<HeadId>& heads) {
  const size_t n = heads.size();
  std::vector<double> loss(size_t{1} << n);
  for (size_t set = 0; set < loss.size(); ++set) {
    HeadSet removed;
    for (size_t h = 0; h < n; ++h)
      if ((set >> h & 1) != 0) removed.insert(heads[h]);
    loss[set] = loss_without(subject, removed);
  }
  std::vector<double> values(n, 0);
  for (size_t h = 0; h < n; ++h)
    for (size_t set = 0; set < loss.size(); ++set) {
      if ((set >> h & 1) != 0) continue;
      const double before = std::popcount(set);
      const double weight = std::exp(std::lgamma(before + 1) + std::lgamma(static_cast<double>(n) - before) -
                                     std::lgamma(static_cast<double>(n) + 1));
      values[h] += weight * (loss[set | size_t{1} << h] - loss[set]);
    }
  return values;
}

}  // namespace

TEST_CASE("ablation is the rise of the loss without the head", "[score]") {
  for (const Kind kind : kFamilies) {
    CAPTURE(to_string(kind));
    const Subject subject = make_subject(kind, torch::kFloat64);
    const Blocks blocks = subject.model->blocks();
    const Importance found = score("ablation", subject);
    const double whole = loss_without(subject, {});
    for (const HeadId& head : all_heads(blocks))
      CHECK(value_of(found, blocks, head) == Approx(loss_without(subject, HeadSet({head})) - whole).epsilon(1e-9));
    CHECK(found.masks == 1 + std::ssize(all_heads(blocks)));
    CHECK((found.forward == 3 * found.masks && found.backward == 0 && found.examples == 7));
    // Beside heads that are gone, from the model without them.
    const HeadSet gone({all_heads(blocks)[1]});
    const HeadId other = all_heads(blocks)[3];
    HeadSet both = gone;
    both.insert(other);
    CHECK(value_of(score("ablation", subject, {.removed = gone}), blocks, other) ==
          Approx(loss_without(subject, both) - loss_without(subject, gone)).epsilon(1e-9));
  }
  const Subject grouped = make_subject(Kind::decoder, torch::kFloat64, {}, /*groups=*/2);
  const HeadSet second({{{Kind::decoder, 1}, 2}, {{Kind::decoder, 1}, 3}});
  CHECK(value_of(score("{ablation: {unit: group}}", grouped), grouped.model->blocks(), {{Kind::decoder, 1}, 3}) ==
        Approx(loss_without(grouped, second) - loss_without(grouped, {})).epsilon(1e-9));
}

TEST_CASE("Shapley values are those of all subsets, and add up to what all heads are worth", "[score]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    CAPTURE(to_string(kind));
    const Subject subject = make_subject(kind, torch::kFloat64);
    const Blocks blocks = subject.model->blocks();
    const std::vector<HeadId> heads = all_heads(blocks);
    const std::vector<double> exact = exact_shapley(subject, heads);
    const Importance found = score("{shapley: {permutations: 150}}", subject);
    double sum = 0, worst = 0;
    for (size_t h = 0; h < heads.size(); ++h) {
      const double value = value_of(found, blocks, heads[h]);
      const double error = found.stderr_[h / 3][static_cast<int64_t>(h % 3)].item<double>();
      REQUIRE(error > 0);
      sum += value;
      worst = std::max(worst, std::abs(value - exact[h]) / error);
    }
    CHECK(worst < 4);  // standard errors; the seed is fixed
    CHECK(sum == Approx(loss_without(subject, HeadSet(heads)) - loss_without(subject, {})).epsilon(1e-9));
    CHECK(found.masks == 2 + 150 * 5);
  }
}

TEST_CASE("Shapley orders stop where they are told to", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  CHECK(score("{shapley: {permutations: 50, until: 1000}}", subject).masks == 2 + 2 * 5);  // two orders say how exact
  CHECK(score("{shapley: {permutations: 3, truncate: 1}}", subject).masks <= 2 + 3 * 5);
  const Importance every = score("{shapley: {permutations: 3}}", subject),
                   early = score("{shapley: {permutations: 3, truncate: 0.9}}", subject);
  CHECK(early.masks < every.masks);
}
