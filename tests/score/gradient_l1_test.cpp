// gradient_l1 against central differences, and against plain loops over one example at a time in float64.
#include <cmath>

#include "model/attention.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// l(x) of one unpadded example with gates as given.
double loss_at(const Subject& subject, const Batch& example, const PerBlock& gates) {
  const torch::NoGradGuard guard;
  HeadProbe probe;
  probe.gates = gates;
  return subject.task.example_losses(subject.model->forward(example, probe).values, example).item<double>();
}

/// dl(x)/dgate by central differences: [examples][block][head].
std::vector<std::vector<std::vector<double>>> gate_differences(const Subject& subject) {
  const double step = 1e-5;
  const FrozenModel frozen(*subject.model);
  const Blocks blocks = subject.model->blocks();
  std::vector<std::vector<std::vector<double>>> result;
  for (const Batch& example : batches_of(subject.examples, 1)) {
    result.emplace_back();
    for (size_t b = 0; b < blocks.size(); ++b) {
      result.back().emplace_back();
      for (size_t h = 0; h < blocks[b].heads.size(); ++h) {
        double loss[2];
        for (const int side : {0, 1}) {
          PerBlock gates;
          for (const BlockHeads& block : blocks)
            gates.push_back(torch::ones({static_cast<int64_t>(block.heads.size())}, torch::kFloat64));
          gates[b][static_cast<int64_t>(h)] += side == 0 ? -step : step;
          loss[side] = loss_at(subject, example, gates);
        }
        result.back().back().push_back((loss[1] - loss[0]) / (2 * step));
      }
    }
  }
  return result;
}

/// Mean over examples of f(g(x)), not normalised.
template <class F>
PerBlock mean_of(const Subject& subject, const F& f) {
  const auto differences = gate_differences(subject);
  PerBlock result;
  for (size_t b = 0; b < differences[0].size(); ++b) {
    std::vector<double> values(differences[0][b].size(), 0.0);
    for (const auto& example : differences)
      for (size_t h = 0; h < values.size(); ++h)
        values[h] += f(example[b][h]) / static_cast<double>(differences.size());
    result.push_back(torch::tensor(values, torch::kFloat64));
  }
  return result;
}

/// Contexts of one unpadded example with their gradients, each [H, T, Dv], block by block.
struct ContextsOf {
  PerBlock contexts, gradients;
};
ContextsOf contexts_of(const Subject& subject, const Batch& example) {
  const FrozenModel frozen(*subject.model);
  HeadProbe probe;
  probe.contexts = true;
  const ModelOutput output = subject.model->forward(example, probe);
  const torch::Tensor loss = subject.task.example_losses(output.values, example).sum();
  ContextsOf result;
  for (const torch::Tensor& gradient : torch::autograd::grad({loss}, output.heads.contexts))
    result.gradients.push_back(gradient.squeeze(0));
  for (const torch::Tensor& context : output.heads.contexts) result.contexts.push_back(context.detach().squeeze(0));
  return result;
}

double entry_of(const torch::Tensor& tensor, int64_t h, int64_t q, int64_t d) {
  return tensor.index({h, q, d}).item<double>();
}

PerBlock zeros_like_blocks(const Subject& subject) {
  PerBlock result;
  for (const BlockHeads& block : subject.model->blocks())
    result.push_back(torch::zeros({static_cast<int64_t>(block.heads.size())}, torch::kFloat64));
  return result;
}

/// Query positions of all examples that carry gradient, block by block. A classifier reads the first position alone, so
/// of its last block only that one does. The last position of a language model has no target, and under causal
/// attention nobody else looks at it. An encoder-decoder has 31 positions of sources and 26 of targets.
std::vector<double> carrying_positions(Kind kind) {
  if (kind == Kind::encoder) return {31, 7};
  if (kind == Kind::decoder) return {24, 24};
  return {31, 31, 26, 26, 26, 26};
}

const char* kNone = "normalize: none";
std::string gradient(const std::string& options) { return "{gradient_l1: {" + options + "}}"; }

}  // namespace

TEST_CASE("gradient_l1 of gates is the mean of abs central differences of each example's loss", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const PerBlock expected = mean_of(subject, [](double g) { return std::abs(g); });
    CHECK(relative_difference(score(gradient(kNone), subject).values, expected) < 1e-4);
    // Not the same as abs of the mean: signs differ between examples.
    CHECK(relative_difference(mean_of(subject, [](double g) { return g; }), expected) > 0.1);
  }
}

TEST_CASE("gradient_l1 divides each block by its L2 norm by default", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  const Importance raw = score(gradient(kNone), subject), normal = score("gradient_l1", subject);
  for (size_t b = 0; b < raw.values.size(); ++b) {
    const double norm = raw.values[b].square().sum().sqrt().item<double>();
    CHECK(torch::allclose(normal.values[b], raw.values[b] / norm, 1e-12));
    CHECK(torch::allclose(normal.stderr_[b], raw.stderr_[b] / norm, 1e-12));
    CHECK(normal.values[b].square().sum().item<double>() == Approx(1));
  }
  CHECK(relative_difference(score("{gradient_l1: {preset: paper}}", subject).values, normal.values) == 0);
}

TEST_CASE("the standard error of gradient_l1 is that of a mean over examples", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  const auto g = gate_differences(subject);
  const Importance raw = score(gradient(kNone), subject);
  for (size_t h = 0; h < 3; ++h) {
    double mean = 0, squares = 0;
    for (const auto& example : g) mean += std::abs(example[0][h]) / 7;
    for (const auto& example : g) squares += std::pow(std::abs(example[0][h]) - mean, 2);
    CHECK(raw.stderr_[0][static_cast<int64_t>(h)].item<double>() == Approx(std::sqrt(squares / 6 / 7)).epsilon(1e-4));
  }
}

TEST_CASE("signed gradient_l1 is minus the mean gradient, without an absolute value", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const PerBlock values = score(gradient("absolute: signed, normalize: none"), subject).values;
    CHECK(relative_difference(values, mean_of(subject, [](double g) { return -g; })) < 1e-4);
  }
}

TEST_CASE("gradient_l1 by batch takes abs of each batch's sum, and equals example at batch size 1", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const std::string batch = gradient("absolute: batch, normalize: none");
    CHECK(relative_difference(score(batch, subject, {.batch_size = 1}).values, score(gradient(kNone), subject).values) <
          1e-12);
    const auto g = gate_differences(subject);
    PerBlock expected = zeros_like_blocks(subject);
    for (size_t b = 0; b < expected.size(); ++b)
      for (size_t h = 0; h < g[0][b].size(); ++h) {
        const double sums[] = {g[0][b][h] + g[1][b][h] + g[2][b][h], g[3][b][h] + g[4][b][h] + g[5][b][h], g[6][b][h]};
        expected[b][static_cast<int64_t>(h)] = (std::abs(sums[0]) + std::abs(sums[1]) + std::abs(sums[2])) / 7;
      }
    const Importance importance = score(batch, subject, {.batch_size = 3});
    CHECK(relative_difference(importance.values, expected) < 1e-4);
    CHECK(importance.stderr_.empty());
    CHECK(relative_difference(score("{gradient_l1: {preset: textpruner}}", subject, {.batch_size = 3}).values,
                              importance.values) == 0);
  }
}

TEST_CASE("gradient_l1 by token sums abs over query positions, over the positions that carry gradient", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    PerBlock sums = zeros_like_blocks(subject);
    std::vector<double> positions(sums.size(), 0.0);
    for (const Batch& example : batches_of(subject.examples, 1)) {
      const ContextsOf of = contexts_of(subject, example);
      for (size_t b = 0; b < sums.size(); ++b) {
        for (int64_t q = 0; q < of.contexts[b].size(1); ++q) {
          bool carries = false;
          for (int64_t h = 0; h < 3; ++h) {
            double product = 0;
            for (int64_t d = 0; d < 2; ++d) {
              product += entry_of(of.contexts[b], h, q, d) * entry_of(of.gradients[b], h, q, d);
              carries |= entry_of(of.gradients[b], h, q, d) != 0;
            }
            sums[b][h] += std::abs(product);
          }
          positions[b] += carries ? 1 : 0;
        }
      }
    }
    CHECK(positions == carrying_positions(kind));
    PerBlock expected;
    for (size_t b = 0; b < sums.size(); ++b) expected.push_back(sums[b] / positions[b]);
    const std::string token = gradient("absolute: token, normalize: none");
    CHECK(relative_difference(score(token, subject, {.batch_size = 64}).values, expected) < 1e-12);
    CHECK(relative_difference(score("{gradient_l1: {preset: michel_code}}", subject).values,
                              score(gradient("absolute: token"), subject).values) == 0);
  }
}

TEST_CASE("as sums, token >= example >= batch >= abs of the total", "[score]") {
  bool batch_differs = false, total_differs = false;
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const PerBlock token = score(gradient("absolute: token, normalize: none"), subject).values,
                   example = score(gradient(kNone), subject).values,
                   batch = score(gradient("absolute: batch, normalize: none"), subject, {.batch_size = 2}).values,
                   total = score(gradient("absolute: signed, normalize: none"), subject).values;
    const std::vector<double> positions = carrying_positions(kind);
    for (size_t b = 0; b < positions.size(); ++b) {
      const double slack = 1e-12;
      CHECK((token[b] * positions[b] >= example[b] * 7 - slack).all().item<bool>());
      CHECK((example[b] >= batch[b] - slack).all().item<bool>());
      CHECK((batch[b] >= total[b].abs() - slack).all().item<bool>());
      batch_differs |= (example[b] > batch[b] * 1.01).any().item<bool>();
      total_differs |= (batch[b] > total[b].abs() * 1.01).any().item<bool>();
    }
  }
  CHECK(batch_differs);
  CHECK(total_differs);
}

TEST_CASE("gradient_l1 of contexts is the mean over examples of the summed abs gradient", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    PerBlock expected = zeros_like_blocks(subject);
    for (const Batch& example : batches_of(subject.examples, 1)) {
      const ContextsOf of = contexts_of(subject, example);
      for (size_t b = 0; b < expected.size(); ++b)
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t q = 0; q < of.contexts[b].size(1); ++q)
            for (int64_t d = 0; d < 2; ++d) expected[b][h] += std::abs(entry_of(of.gradients[b], h, q, d)) / 7;
    }
    CHECK(relative_difference(score(gradient("of: context, normalize: none"), subject, {.batch_size = 64}).values,
                              expected) < 1e-12);
  }
}

TEST_CASE("gradient_l1 of weights sums abs central differences of the mean loss over the head's slices", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const FrozenModel frozen(*subject.model);
    const Batch all = batches_of(subject.examples, 64).at(0);
    const auto mean_loss = [&] {
      return subject.task.example_losses(subject.model->forward(all).values, all).mean().item<double>();
    };
    PerBlock expected = zeros_like_blocks(subject);
    const double step = 1e-5;
    for (size_t b = 0; b < expected.size(); ++b) {
      Attention& attention = subject.model->attention(b);
      const auto add_weight = [&](torch::Tensor weight, int64_t axis, int64_t width) {
        const torch::NoGradGuard guard;
        for (int64_t row = 0; row < weight.size(0); ++row)
          for (int64_t column = 0; column < weight.size(1); ++column) {
            torch::Tensor entry = weight.index({row, column});
            entry += step;
            const double above = mean_loss();
            entry -= 2 * step;
            const double below = mean_loss();
            entry += step;
            expected[b][(axis == 0 ? row : column) / width] += std::abs((above - below) / (2 * step));
          }
      };
      add_weight(attention.query().weight, 0, 3);
      add_weight(attention.key().weight, 0, 3);
      add_weight(attention.value().weight, 0, 2);
      add_weight(attention.output().weight, 1, 2);
    }
    CHECK(relative_difference(score(gradient("of: weights, normalize: none"), subject).values, expected) < 1e-4);
  }
}
