// Scores of one formula, against the formula written again for one example at a time.
#include "model/attention.h"
#include "score/support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// What one example shows, alone and without padding.
struct Seen {
  PerBlock weights;    // [H, T, S] a block
  PerBlock contexts;   // [H, T, Dv]
  PerBlock gradients;  // [H]: of its loss by the gates
};

std::vector<Seen> look(const Subject& subject) {
  subject.model->eval();
  std::vector<Seen> all;
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    const Batch batch = make_batch(subject.examples, {static_cast<int64_t>(i)}, torch::kCPU);
    HeadProbe probe;
    probe.weights = probe.contexts = true;
    for (const BlockHeads& block : subject.model->blocks())
      probe.gates.push_back(torch::ones({block.count()}, torch::kFloat64).requires_grad_());
    const ModelOutput output = subject.model->forward(batch, probe);
    const torch::Tensor loss = subject.task.example_losses(output.values, batch).sum();
    Seen seen{{}, {}, torch::autograd::grad({loss}, probe.gates)};
    for (size_t b = 0; b < probe.gates.size(); ++b) {
      seen.weights.push_back(output.heads.weights[b][0].detach());
      seen.contexts.push_back(output.heads.contexts[b][0].detach());
    }
    all.push_back(std::move(seen));
  }
  subject.model->train();
  return all;
}

/// Mean over examples of `of(example, block)` [H].
template <class Of>
PerBlock mean_of(const std::vector<Seen>& seen, const Of& of) {
  PerBlock means;
  for (size_t b = 0; b < seen.front().gradients.size(); ++b) {
    torch::Tensor sum = torch::zeros_like(seen.front().gradients[b]);
    for (const Seen& one : seen) sum = sum + of(one, b) / static_cast<double>(seen.size());
    means.push_back(sum);
  }
  return means;
}

PerBlock negative(PerBlock values) {
  for (torch::Tensor& block : values) block = -block;
  return values;
}

}  // namespace

TEST_CASE("scores of one formula are that formula, example by example", "[score]") {
  for (const Kind kind : kFamilies) {
    CAPTURE(to_string(kind));
    const Subject subject = make_subject(kind, torch::kFloat64);
    const std::vector<Seen> seen = look(subject);
    const auto agrees = [&](const char* yaml, const PerBlock& expected) {
      CAPTURE(yaml);
      CHECK(relative_difference(score(yaml, subject).values, expected) < 1e-10);
    };
    agrees("fisher", mean_of(seen, [](const Seen& one, size_t b) { return one.gradients[b].square(); }));
    agrees("first_token",
           negative(mean_of(seen, [](const Seen& one, size_t b) { return one.weights[b].select(-1, 0).mean(-1); })));
    agrees("output_norm_ratio", mean_of(seen, [](const Seen& one, size_t b) {
             const torch::Tensor norms = one.contexts[b].norm(2, -1).mean(-1);  // [H]
             return norms / norms.mean();
           }));
    // The only special token stands at the first position of the source, which is no end of a text.
    agrees("confidence",
           mean_of(seen, [](const Seen& one, size_t b) { return std::get<0>(one.weights[b].max(-1)).mean(-1); }));
  }
}

TEST_CASE("confidence leaves out the rows of special tokens that end a text", "[score]") {
  Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  for (Example& example : subject.examples) example.special.push_back(std::ssize(example.tokens) - 1);
  const PerBlock expected = mean_of(look(subject), [](const Seen& one, size_t b) {
    const torch::Tensor largest = std::get<0>(one.weights[b].max(-1));  // [H, T]
    return largest.narrow(-1, 0, largest.size(-1) - 1).mean(-1);
  });
  CHECK(relative_difference(score("confidence", subject).values, expected) < 1e-10);
}

TEST_CASE("fisher squares the mean gradient of neighbouring examples where it is asked to", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);  // 7 examples: 3, 3 and 1
    const std::vector<Seen> seen = look(subject);
    PerBlock expected;
    for (size_t b = 0; b < seen.front().gradients.size(); ++b) {
      torch::Tensor sum = torch::zeros_like(seen.front().gradients[b]);
      for (size_t first = 0; first < seen.size(); first += 3) {
        torch::Tensor batch = torch::zeros_like(sum);
        const size_t end = std::min(seen.size(), first + 3);
        for (size_t i = first; i < end; ++i) batch = batch + seen[i].gradients[b] / static_cast<double>(end - first);
        sum = sum + batch.square() / 3;
      }
      expected.push_back(sum);
    }
    CHECK(relative_difference(score("{fisher: {batches: 3}}", subject, {.batch_size = 2}).values, expected) < 1e-10);
    CHECK(relative_difference(score("{fisher: {batches: 1}}", subject).values, score("fisher", subject).values) <
          1e-12);
  }
}

TEST_CASE("magnitude is the norm of the weights that are the head's, or its group's", "[score]") {
  const Subject subject = make_subject(Kind::decoder, torch::kFloat64, {}, /*groups=*/2);
  PerBlock own, of_group, l1_values;
  for (size_t b = 0; b < 2; ++b) {
    Attention& attention = subject.model->attention(b);
    const auto rows = [](const torch::Tensor& weight, int64_t at, int64_t width) {
      return weight.detach().narrow(0, at * width, width);
    };
    std::vector<double> heads, groups, values;
    for (int64_t h = 0; h < 4; ++h) {
      const torch::Tensor q = rows(attention.query().weight, h, 3), o = rows(attention.output().weight.t(), h, 2);
      heads.push_back(std::sqrt((q.square().sum() + o.square().sum()).item<double>()));
      const int64_t g = h / 2;
      double squares =
          (rows(attention.key().weight, g, 3).square().sum() + rows(attention.value().weight, g, 2).square().sum())
              .item<double>();
      for (const int64_t other : {2 * g, 2 * g + 1})
        squares += (rows(attention.query().weight, other, 3).square().sum() +
                    rows(attention.output().weight.t(), other, 2).square().sum())
                       .item<double>();
      groups.push_back(std::sqrt(squares));
      values.push_back(rows(attention.value().weight, g, 2).abs().sum().item<double>());
    }
    own.push_back(torch::tensor(heads, torch::kFloat64));
    of_group.push_back(torch::tensor(groups, torch::kFloat64));
    l1_values.push_back(torch::tensor(values, torch::kFloat64));
  }
  CHECK(relative_difference(score("magnitude", subject).values, own) < 1e-12);
  CHECK(relative_difference(score("{magnitude: {unit: group}}", subject).values, of_group) < 1e-12);
  CHECK(relative_difference(score("{magnitude: {unit: group, norm: l1, parts: [v]}}", subject).values, l1_values) <
        1e-12);
  CHECK(score("magnitude", subject).forward == 0);
}
