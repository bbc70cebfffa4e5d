// output_l2 against plain loops over one example at a time that materialise every head's output.
#include <cmath>

#include "model/attention.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Norm of the head's output over the norm of the block's, or not, as the options say; mean over q, then over x.
struct OutputL2Reference {
  bool projected = true, relative = false;
  bool carrying = false;  // in the last block, the first position alone
};
PerBlock reference(const Subject& subject, const OutputL2Reference& how) {
  const FrozenModel frozen(*subject.model);
  PerBlock result(subject.model->blocks().size(), torch::Tensor());
  for (size_t b = 0; b < result.size(); ++b) {
    result[b] = torch::zeros({3}, torch::kFloat64);
    Attention& attention = subject.model->attention(b);
    for (const Batch& example : batches_of(subject.examples, 1)) {
      HeadProbe probe;
      probe.contexts = true;
      const torch::NoGradGuard guard;
      const torch::Tensor context = subject.model->forward(example, probe).heads.contexts[b][0];  // [H, T, Dv]
      const int64_t T = how.carrying && b + 1 == result.size() ? 1 : context.size(1);
      for (int64_t q = 0; q < T; ++q) {
        torch::Tensor whole = how.projected ? attention.output().bias.clone() : torch::zeros({0}, torch::kFloat64);
        std::vector<torch::Tensor> parts;
        for (int64_t h = 0; h < 3; ++h) {
          torch::Tensor part = context[h][q];                                                       // [Dv]
          if (how.projected) part = attention.output().weight.slice(1, 2 * h, 2 * h + 2).mv(part);  // [C]
          parts.push_back(part);
          whole = how.projected ? whole + part : torch::cat({whole, part});
        }
        for (int64_t h = 0; h < 3; ++h) {
          const double norm = std::sqrt(parts[static_cast<size_t>(h)].square().sum().item<double>());
          const double divisor = how.relative ? std::sqrt(whole.square().sum().item<double>()) : 1;
          result[b][h] += norm / divisor / static_cast<double>(T) / 7;
        }
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("output_l2 equals the norm of materialised head outputs", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    CAPTURE(to_string(kind));
    const auto check = [&](const std::string& yaml, const OutputL2Reference& how) {
      CAPTURE(yaml);
      CHECK(relative_difference(score(yaml, subject, {.batch_size = 64}).values, reference(subject, how)) < 1e-12);
    };
    check("output_l2", {.projected = true, .relative = false});
    check("{output_l2: {relative: true}}", {.projected = true, .relative = true});
    check("{output_l2: {at: context}}", {.projected = false, .relative = false});
    check("{output_l2: {at: context, relative: true}}", {.projected = false, .relative = true});
    // Only the classifier looks at one position.
    check("{output_l2: {positions: carrying}}",
          {.projected = true, .relative = false, .carrying = kind == Kind::encoder});
  }
}

TEST_CASE("a head that gives nothing has norm 0, also relative to a block that gives nothing", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  {
    const torch::NoGradGuard guard;
    subject.model->attention(0).value().weight.zero_();
    subject.model->attention(0).value().bias.zero_();
    subject.model->attention(0).output().bias.zero_();
    subject.model->attention(1).output().weight.slice(1, 2, 4).zero_();
  }
  for (const std::string yaml : {"output_l2", "{output_l2: {relative: true}}"}) {
    const Importance importance = score(yaml, subject);
    CHECK(importance.values[0].abs().sum().item<double>() == 0);
    CHECK(importance.values[1][1].item<double>() == 0);
    CHECK(importance.values[1][0].item<double>() > 0);
    CHECK(importance.ties == 4);  // three of block 0 and one of block 1 share the value 0
    CHECK(importance.warnings.size() == 1);
  }
}
