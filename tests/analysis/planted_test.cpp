// Roles of heads that were put into a model by hand.
#include "analysis/support.h"
#include "core/error.h"
#include "data/vocabulary.h"
#include "model/attention.h"

using namespace headprune;
using namespace headprune::test;

namespace {

using Texts = std::vector<std::string>;

/// The higher the id, the rarer; 10 is ".".
std::vector<Example> texts() {
  return {text_of({4, 5, 6, 4, 5}), text_of({4, 4, 5, 7}), text_of({6, 4, 5, 8, 10}), text_of({5, 4, 9, 4, 4, 5}),
          text_of({4, 4, 5, 5, 6, 6, 7})};
}

const std::vector<Plant> kEvery = {Plant::previous,  Plant::next,   Plant::first,  Plant::itself,
                                   Plant::separator, Plant::rarest, Plant::uniform};

}  // namespace

TEST_CASE("a planted encoder's table of roles is the one that was planted", "[analysis]") {
  const auto model = planted({kEvery}, Architecture::encoder);
  const Blocks blocks = model->blocks();
  CHECK(role_texts(analyse("positional", *model, texts()), blocks) ==
        Texts{"encoder.L0.H0 positional: offset -1", "encoder.L0.H1 positional: offset +1",
              "encoder.L0.H3 positional: itself", "encoder.L0.H2 sink"});
  const AnalysisResult positional = analyse("positional", *model, texts());
  CHECK(positional.strengths.size() == 2);
  // How positional a head is: the largest of its shares of offsets.
  CHECK(column(positional, "positional").values[0].slice(0, 0, 2).eq(1).all().item<bool>());
  CHECK(column(positional, "positional").values[0][6].item<double>() == 0);
  // The last token is the separator: the name that says more comes first.
  CHECK(role_texts(analyse("special", *model, texts()), blocks) ==
        Texts{"encoder.L0.H2 special: classifier", "encoder.L0.H4 special: separator"});
  CHECK(role_texts(analyse("{rare: {frequent: 0}}", *model, texts()), blocks) == Texts{"encoder.L0.H5 rare"});
}

TEST_CASE("a uniform head has what uniform attention gives, and no role", "[analysis]") {
  const auto model = planted({kEvery}, Architecture::encoder);
  for (const char* analysis : {"positional", "special"}) {
    const AnalysisResult result = analyse(analysis, *model, texts());
    for (const HeadColumn& one : result.columns) {
      CAPTURE(one.name);
      if (one.name.starts_with("largest")) {
        CHECK(one.values[0][6].item<double>() == 0);  // no key has more than the others
      } else if (one.values[0].defined() && one.baseline[0]) {
        CHECK(one.values[0][6].item<double>() == Approx(*one.baseline[0]).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a planted decoder continues what stood there before", "[analysis]") {
  const auto model =
      planted({{Plant::previous, Plant::first}, {Plant::induction, Plant::itself}}, Architecture::decoder);
  const AnalysisResult result = analyse("{induction: {tokens: 7, texts: 40}}", *model, texts());
  const Blocks blocks = model->blocks();
  CHECK(role_texts(result, blocks) == Texts{"decoder.L0.H0 previous_token", "decoder.L1.H0 induction"});
  CHECK(result.examples == 40);
  const torch::Tensor copying = column(result, "copying").values[1];
  // Its circuit is the identity on tokens. The head beside it writes nothing.
  CHECK(copying[0].item<double>() == Approx(1).epsilon(1e-9));
  CHECK(copying[1].item<double>() == 0);
  // Turned around, it lowers what it looks at.
  const torch::NoGradGuard no_gradients;
  model->attention(1).output().weight.neg_();
  const AnalysisResult turned = analyse("{induction: {tokens: 7, texts: 4}}", *model, texts());
  CHECK(column(turned, "copying").values[1][0].item<double>() == Approx(-1).epsilon(1e-9));
}

TEST_CASE("a head that is removed leaves the others their ids and roles", "[analysis]") {
  const auto model = planted({kEvery}, Architecture::encoder);
  model->remove_heads(HeadSet({{{Kind::encoder, 0}, 0}, {{Kind::encoder, 0}, 2}}));
  CHECK(role_texts(analyse("positional", *model, texts()), model->blocks()) ==
        Texts{"encoder.L0.H1 positional: offset +1", "encoder.L0.H3 positional: itself"});
}

TEST_CASE("induction is refused where it means nothing or does not fit", "[analysis]") {
  const Dataset dataset = dataset_of(texts(), texts());
  const auto refusal = [&](const std::string& yaml, Architecture architecture) -> std::string {
    try {
      make_analysis(yaml)->check(*planted({{Plant::first}}, architecture), dataset);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal("induction", Architecture::encoder), ContainsSubstring("predict the next token"));
  CHECK_THAT(refusal("{induction: {tokens: 12}}", Architecture::decoder),
             ContainsSubstring("lower its option tokens to 11"));
  CHECK(refusal("{induction: {tokens: 11}}", Architecture::decoder).empty());
}
