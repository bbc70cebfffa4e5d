// Fewer keys and values for the same query heads: against transformers, and what a folder says of it.
#include "model/grouping.h"

#include "hf_golden.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

torch::Tensor logits(TransformerModel& model, const HfGolden& golden) { return model.forward(golden.batch()).values; }

}  // namespace

TEST_CASE("means of key and value projections give what transformers computes with them", "[grouping]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kLlamaCases) {
    INFO(name);
    const HfGolden golden(name);
    const auto model = golden.model();
    const Json& expected = golden.expected["converted"];
    const auto fewer = in_groups(*model, {.groups = expected["groups"]});
    CHECK(logits_difference(logits(*fewer, golden), expected["logits"]) < kClose);
    // The golden tells the two apart, and the source is as it was.
    CHECK(logits_difference(logits(*model, golden), expected["logits"]) > 100 * kClose);
    CHECK(logits_difference(logits(*model, golden), golden.expected["logits"]) < kClose);
    CHECK(fewer->blocks()[0].heads_per_group == 6);
  }
}

TEST_CASE("as many groups as there are give an equal model; the first and random ones are what they say",
          "[grouping]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("llama_biases");
  const auto model = golden.model();
  const auto same = in_groups(*model, {.groups = 3, .init = GroupInit::random, .seed = 5});
  CHECK(torch::equal(logits(*same, golden), logits(*model, golden)));

  const auto first = in_groups(*model, {.groups = 1, .init = GroupInit::first});
  for (size_t block = 0; block < 3; ++block) {
    Attention &from = model->attention(block), &to = first->attention(block);
    CHECK(torch::equal(to.key().weight, from.key().weight.narrow(0, 0, 4)));
    CHECK(torch::equal(to.value().bias, from.value().bias.narrow(0, 0, 4)));
    CHECK(torch::equal(to.query().weight, from.query().weight));
  }
  const auto a = in_groups(*model, {.groups = 1, .init = GroupInit::random, .seed = 1});
  const auto b = in_groups(*model, {.groups = 1, .init = GroupInit::random, .seed = 2});
  CHECK_FALSE(torch::equal(a->attention(0).key().weight, b->attention(0).key().weight));
  CHECK(a->attention(0).key().weight.abs().max().item<double>() <= std::sqrt(6.0 / (4 + 20)));
  CHECK(a->attention(0).key().weight.abs().max().item<double>() > 0);
  CHECK(torch::equal(a->attention(2).output().weight, model->attention(2).output().weight));
}

TEST_CASE("heads that shared equal keys and values lose nothing", "[grouping]") {
  const torch::NoGradGuard no_grad;
  for (const Architecture architecture :
       {Architecture::encoder, Architecture::decoder, Architecture::encoder_decoder}) {
    TransformerConfig sizes{.architecture = architecture,
                            .d_model = 12,
                            .layers = 2,
                            .decoder_layers = architecture == Architecture::encoder_decoder ? 2 : 0,
                            .heads = 4,
                            .d_key = 3,
                            .d_value = 5,
                            .d_ff = 8,
                            .vocabulary_size = 11,
                            .max_length = 8,
                            .outputs = 2};
    const auto model = make_transformer(sizes);
    initialise(*model, 3);
    model->eval();
    for (size_t block = 0; block < model->blocks().size(); ++block)
      for (Projection* part : {&model->attention(block).key(), &model->attention(block).value()}) {
        const int64_t width = part->weight.size(0) / 4;
        for (const int64_t head : {1, 3})
          part->weight.narrow(0, head * width, width).copy_(part->weight.narrow(0, (head - 1) * width, width));
      }
    Example example;
    example.tokens = {1, 4, 7, 2};
    example.label = 1;
    if (architecture == Architecture::encoder_decoder) example.decoder_tokens = {3, 5, 6};
    if (architecture != Architecture::encoder)
      example.targets.assign(architecture == Architecture::decoder ? 4 : 3, kNoTarget);
    const Batch batch = make_batch({example}, {0}, torch::kCPU);
    const auto fewer = in_groups(*model, {.groups = 2});
    const auto difference = (fewer->forward(batch).values - model->forward(batch).values).abs().max().item<double>();
    CHECK(difference < kClose);
    CHECK(parameter_count(*fewer) < parameter_count(*model));
  }
}

TEST_CASE("a converted model is written as one of its family and read again", "[grouping]") {
  const torch::NoGradGuard no_grad;
  const TestFolder folder;
  const HfGolden golden("qwen2");  // its config.json has no head_dim
  const auto fewer = in_groups(*golden.model(), {.groups = 1});
  FolderWriter writer(folder / "model");
  write_model(writer, *fewer, nullptr, {});
  writer.commit();
  const ModelFolder written = read_model_folder(folder / "model");
  CHECK(written.config.groups == 1);
  CHECK(torch::equal(logits(*load_model(written, torch::kCPU), golden), logits(*fewer, golden)));
}

TEST_CASE("what cannot be converted is named", "[grouping]") {
  const HfGolden golden("llama");
  const auto model = golden.model();
  CHECK_THROWS_WITH(in_groups(*model, {.groups = 2}),
                    ContainsSubstring("2 does not divide the 3 key/value heads of a block"));
  CHECK_THROWS_WITH(in_groups(*model, {.groups = 0}), ContainsSubstring("0 does not divide"));
  CHECK_THROWS_WITH(in_groups(*HfGolden("gpt2_lm").model(), {.groups = 1}),
                    ContainsSubstring("folders of type gpt2 cannot say"));
  model->remove_heads(HeadSet({{{Kind::decoder, 1}, 2}}));
  CHECK_THROWS_WITH(in_groups(*model, {.groups = 1}), ContainsSubstring("lacks heads already"));
}
