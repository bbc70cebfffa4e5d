// Groups as units of scores: heads that read the same keys and values have one number.
#include "model/attention.h"
#include "score/accumulate.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const Scored kAll{.batch_size = 64};

/// 4 heads in 2 groups a block.
Subject grouped(Kind kind, const HeadSet& gone = {}) { return make_subject(kind, torch::kFloat64, gone, 2); }

/// Whether the heads of each group have one value, that of `expected`, [G] a block.
void check_groups(const Importance& scores, const PerBlock& expected, double tolerance) {
  for (size_t b = 0; b < expected.size(); ++b)
    for (int64_t h = 0; h < 4; ++h)
      CHECK(scores.values[b][h].item<double>() == Approx(expected[b][h / 2].item<double>()).epsilon(tolerance));
}

/// dl(x)/dgate of each group's own gate, by central differences. [N, G] a block
PerBlock group_gradients(const Subject& subject) {
  const FrozenModel frozen(*subject.model);
  const Batch all = batches_of(subject.examples, 64).at(0);
  const auto losses = [&](size_t block, int64_t group, double gate) {
    HeadProbe probe;
    for (const BlockHeads& one : subject.model->blocks())
      probe.gates.push_back(torch::ones({one.count()}, torch::kFloat64));
    probe.gates[block].slice(0, 2 * group, 2 * group + 2).fill_(gate);
    return subject.task.example_losses(subject.model->forward(all, probe).values, all);  // [N]
  };
  const double step = 1e-4;
  PerBlock gradients;
  for (size_t b = 0; b < subject.model->blocks().size(); ++b) {
    std::vector<torch::Tensor> of_groups;
    for (int64_t group = 0; group < 2; ++group)
      of_groups.push_back((losses(b, group, 1 + step) - losses(b, group, 1 - step)) / (2 * step));  // [N]
    gradients.push_back(torch::stack(of_groups, 1));                                                // [N, G]
  }
  return gradients;
}

/// Norm of what a group adds to the block's output, mean over an example's positions, mean over examples. [G] a block
PerBlock group_norms(const Subject& subject) {
  const torch::NoGradGuard guard;
  PerBlock norms;
  for (const BlockHeads& block : subject.model->blocks()) {
    (void)block;
    norms.push_back(torch::zeros({2}, torch::kFloat64));
  }
  const FrozenModel frozen(*subject.model);
  for (const Batch& one : batches_of(subject.examples, 1)) {
    HeadProbe probe;
    probe.contexts = true;
    const ModelOutput seen = subject.model->forward(one, probe);
    for (size_t b = 0; b < norms.size(); ++b) {
      const Attention& attention = subject.model->attention(b);
      const torch::Tensor none = attention.combine(seen.heads.contexts[b], torch::zeros({4}, torch::kFloat64));
      for (int64_t group = 0; group < 2; ++group) {
        torch::Tensor gates = torch::zeros({4}, torch::kFloat64);
        gates.slice(0, 2 * group, 2 * group + 2).fill_(1);
        const torch::Tensor added = attention.combine(seen.heads.contexts[b], gates) - none;  // [1, T, C]
        norms[b][group] += added.norm(2, -1).mean() / static_cast<double>(subject.examples.size());
      }
    }
  }
  return norms;
}

}  // namespace

TEST_CASE("a group's gradient is that of the one gate of its heads, summed before the abs", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = grouped(kind);
    PerBlock example, batch, together;
    for (const torch::Tensor& gradients : group_gradients(subject)) {
      example.push_back(gradients.abs().mean(0));  // [G]
      batch.push_back(gradients.sum(0).abs() / gradients.size(0));
      together.push_back(-gradients.mean(0));
    }
    check_groups(score("{gradient_l1: {unit: group, normalize: none}}", subject, kAll), example, 1e-5);
    check_groups(score("{gradient_l1: {unit: group, absolute: batch, normalize: none}}", subject, kAll), batch, 1e-5);
    check_groups(score("{gradient_l1: {unit: group, absolute: signed, normalize: none}}", subject, kAll), together,
                 1e-5);
    // Normalised over groups, not over heads.
    PerBlock scaled;
    for (const torch::Tensor& values : example) scaled.push_back(values / values.norm());
    check_groups(score("{gradient_l1: {unit: group}}", subject, kAll), scaled, 1e-5);
  }
}

TEST_CASE("a group's output is the sum of its heads' outputs", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = grouped(kind);
    check_groups(score("{output_l2: {unit: group}}", subject, kAll), group_norms(subject), 1e-10);
    const Importance heads = score("{output_l2: {at: context}}", subject, {.batch_size = 1});
    const Importance groups = score("{output_l2: {at: context, unit: group}}", subject, {.batch_size = 1});
    for (size_t b = 0; b < heads.values.size(); ++b)  // triangle: between the larger and the sum
      for (int64_t h = 0; h < 4; ++h) {
        const torch::Tensor own = heads.values[b].slice(0, h / 2 * 2, h / 2 * 2 + 2);
        CHECK(groups.values[b][h].item<double>() <= own.sum().item<double>() + 1e-12);
        CHECK(groups.values[b][h].item<double>() >= own.max().item<double>() - 1e-12);
      }
  }
}

TEST_CASE("a group's entropy is the mean of its heads'", "[score]") {
  const Subject subject = grouped(Kind::decoder);
  const Importance heads = score("entropy", subject, kAll), groups = score("{entropy: {unit: group}}", subject, kAll);
  for (size_t b = 0; b < heads.values.size(); ++b)
    for (int64_t h = 0; h < 4; ++h)
      CHECK(groups.values[b][h].item<double>() ==
            Approx(heads.values[b].slice(0, h / 2 * 2, h / 2 * 2 + 2).mean().item<double>()));
}

TEST_CASE("of weights, keys and values count for the group that owns them", "[score]") {
  const Subject subject = grouped(Kind::decoder);
  const FrozenModel frozen(*subject.model);
  const Batch all = batches_of(subject.examples, 64).at(0);
  PerBlock heads, groups;
  std::vector<torch::Tensor> weights;
  for (size_t b = 0; b < subject.model->blocks().size(); ++b) {
    Attention& attention = subject.model->attention(b);
    for (torch::Tensor weight :
         {attention.query().weight, attention.key().weight, attention.value().weight, attention.output().weight})
      weights.push_back(weight.requires_grad_());
  }
  const auto gradients =
      torch::autograd::grad({subject.task.example_losses(subject.model->forward(all).values, all).mean()}, weights);
  for (size_t b = 0; b < weights.size() / 4; ++b) {
    const torch::Tensor *g = &gradients[4 * b], none;
    const torch::Tensor own = g[0].abs().view({4, -1}).sum(1) + g[3].abs().sum(0).view({4, -1}).sum(1);  // [H]
    const torch::Tensor shared = g[1].abs().view({2, -1}).sum(1) + g[2].abs().view({2, -1}).sum(1);      // [G]
    heads.push_back(own);
    groups.push_back(own.view({2, 2}).sum(1) + shared);
  }
  const Importance of_heads = score("{gradient_l1: {of: weights, normalize: none}}", subject, kAll);
  for (size_t b = 0; b < heads.size(); ++b) CHECK(torch::allclose(of_heads.values[b], heads[b], 1e-9));
  check_groups(score("{gradient_l1: {of: weights, normalize: none, unit: group}}", subject, kAll), groups, 1e-9);
}

TEST_CASE("heads that are gone give nothing to their group, and a group without heads is gone", "[score]") {
  const HeadSet removed({{{Kind::encoder, 0}, 1}, {{Kind::encoder, 1}, 2}, {{Kind::encoder, 1}, 3}});
  const Subject gated = grouped(Kind::encoder), cut = grouped(Kind::encoder, removed);
  for (const char* yaml : {"{gradient_l1: {unit: group}}", "{gradient_l1: {unit: group, absolute: token}}",
                           "{gradient_l1: {unit: group, of: context}}", "{output_l2: {unit: group}}",
                           "{output_l2: {unit: group, at: context, relative: true}}",
                           "{output_l2: {unit: group, relative: true}}", "{entropy: {unit: group}}"}) {
    CAPTURE(yaml);
    const Importance masked = score(yaml, gated, {.batch_size = 3, .removed = removed}),
                     without = score(yaml, cut, kAll);
    CHECK(masked.values[0][1].item<double>() == 0);
    CHECK(masked.values[1].slice(0, 2, 4).abs().sum().item<double>() == 0);
    CHECK(torch::allclose(masked.values[0].index({torch::tensor({0, 2, 3})}), without.values[0], 1e-9));
    CHECK(torch::allclose(masked.values[1].slice(0, 0, 2), without.values[1], 1e-9));
  }
}

TEST_CASE("heads and groups of one head are the same", "[score]") {
  const Subject subject = make_subject(Kind::cross, torch::kFloat64);
  for (const char* option : {"", "of: weights, ", "absolute: token, "}) {
    const Importance heads = score(fmt::format("{{gradient_l1: {{{}unit: query}}}}", option), subject, kAll);
    const Importance groups = score(fmt::format("{{gradient_l1: {{{}unit: group}}}}", option), subject, kAll);
    for (size_t b = 0; b < heads.values.size(); ++b) CHECK(torch::equal(heads.values[b], groups.values[b]));
  }
}

TEST_CASE("a query of a sliding layer sees its window, and entropy is divided by the logarithm of that", "[score]") {
  TransformerConfig config;
  config.architecture = Architecture::decoder;
  config.d_model = 8, config.layers = 1, config.heads = 2, config.d_key = config.d_value = 4, config.d_ff = 8;
  config.dropout = 0, config.vocabulary_size = 11, config.max_length = 16, config.window = 3;
  // All weights are zeros: attention is even over what is visible, and so its entropy is that logarithm.
  const auto model = make_transformer(config);
  model->to(torch::kFloat64);
  Example example;
  example.tokens = {4, 5, 6, 7, 8, 9, 4, 5};
  example.targets = {5, 6, 7, 8, 9, 4, 5, kNoTarget};
  const LossTask task(Kind::decoder);
  const std::vector<Batch> batches = batches_of({example}, 1);
  const auto entropy = make_score("{entropy: {keep: diffuse}}");
  const ScoreInput input{*model, task, batches, 1, {}, /*seed=*/3};
  const Importance scores = importance({{entropy.get(), "entropy", 0}}, input).at(0);
  CHECK(scores.values[0][0].item<double>() == Approx(1));
}
