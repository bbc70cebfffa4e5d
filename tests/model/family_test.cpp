#include "model/family.h"

#include "config/load.h"
#include "core/error.h"
#include "core/files.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

struct Config {
  Plugin<ModelFamily> model{"encoder"};
  template <class V>
  void fields(V& v) {
    v("model", model, "the model");
  }
};

std::shared_ptr<const ModelFamily> family(const std::string& yaml, const fs::path& folder = {}) {
  return load_config<Config>(ConfigText{.name = "t.yaml", .text = "model: " + yaml + "\n", .folder = folder})
      .value.model.make();
}

/// Messages of everything that is wrong.
std::vector<std::string> problems(const std::string& yaml, const fs::path& folder = {}) {
  std::vector<std::string> found;
  try {
    family(yaml, folder);
  } catch (const ConfigError& error) {
    for (const Diagnostic& one : error.diagnostics()) found.push_back(one.path + ": " + one.message);
  }
  return found;
}

ModelInput input_of(int64_t outputs) {
  return {.vocabulary_size = 11, .outputs = outputs, .max_length = 9, .seed = 3, .device = torch::kCPU};
}

const Transformer& as_transformer(const std::shared_ptr<Model>& model) {
  return dynamic_cast<const Transformer&>(*model);
}

class SavedModel {
 public:
  SavedModel() {
    model->remove_heads(HeadSet({HeadId{{Kind::encoder, 1}, 0}}));
    FolderWriter writer(folder_.path() / "saved");
    write_model(writer, *model, nullptr, {});
    writer.commit();
  }
  const fs::path& folder() const { return folder_.path(); }

  std::shared_ptr<Transformer> model = small_model(small_config(Kind::encoder));

 private:
  TestFolder folder_;
};

TEST_CASE("options become a model of these sizes", "[model]") {
  const auto encoder = family(
      "{type: encoder, d_model: 12, layers: 2, heads: 3, d_value: 5, activation: relu, norm: post, positions: "
      "sinusoidal, pooling: mean, dropout: 0.25}");
  CHECK(encoder->predicts(DataKind::labelled));
  CHECK(encoder->predicts(DataKind::numbered));
  CHECK_FALSE(encoder->predicts(DataKind::language));
  CHECK_FALSE(encoder->load_path().has_value());
  REQUIRE(encoder->blocks().size() == 2);
  CHECK(encoder->blocks()[1].id == BlockId{Kind::encoder, 1});
  CHECK(encoder->blocks()[1].heads == std::vector<int64_t>{0, 1, 2});
  const auto model = encoder->build(input_of(4));
  const TransformerConfig& sizes = as_transformer(model).sizes();
  CHECK(sizes.d_key == 4);
  CHECK(sizes.d_value == 5);
  CHECK(sizes.d_ff == 48);
  CHECK(sizes.pooling == Pooling::mean);
  CHECK(sizes.dropout == 0.25);
  CHECK(encoder->parameter_estimate(input_of(4)) == parameter_count(*model));
  CHECK(real_logits(*model, small_batch()).sizes() == torch::IntArrayRef({3, 4}));
  CHECK(model->is_training());

  const auto decoder = family("{type: decoder, d_model: 8, layers: 1, heads: 2, tie_embeddings: false}");
  CHECK(decoder->predicts(DataKind::language));
  CHECK_FALSE(decoder->predicts(DataKind::numbered));
  const auto language_model = decoder->build(input_of(0));
  CHECK(decoder->parameter_estimate(input_of(0)) == parameter_count(*language_model));
  CHECK(language_model->forward(small_batch()).values.sizes() == torch::IntArrayRef({3, 6, 11}));
}

TEST_CASE("the same seed builds the same model, another seed another", "[model]") {
  const auto encoder = family("{type: encoder, d_model: 8, layers: 1, heads: 2, dropout: 0}");
  ModelInput input = input_of(2);
  const torch::Tensor first = real_logits(*encoder->build(input), small_batch());
  CHECK(torch::equal(first, real_logits(*encoder->build(input), small_batch())));
  input.seed = 4;
  CHECK_FALSE(torch::equal(first, real_logits(*encoder->build(input), small_batch())));
}

TEST_CASE("options that do not go together are problems", "[model]") {
  CHECK(problems("{type: encoder, d_model: 10, heads: 3}") ==
        std::vector<std::string>{
            "model.heads: d_model 10 is not a multiple of heads 3; change one, or set d_key and d_value"});
  CHECK(problems("{type: encoder, d_model: 10, heads: 3, d_key: 4}").size() == 1);
  CHECK(problems("{type: encoder, d_model: 10, heads: 3, d_key: 4, d_value: 4}").empty());
  CHECK(problems("{type: decoder, init: load}") ==
        std::vector<std::string>{"model.path: is needed with init: load: the folder of a saved model"});
  CHECK(problems("{type: decoder, path: .}", fs::temp_directory_path()) ==
        std::vector<std::string>{"model.path: is only used with init: load"});
  CHECK(problems("{type: decoder, init: load, path: does-not-exist}", fs::temp_directory_path()).size() == 1);
  CHECK(problems("{type: decoder, pooling: mean}").size() == 1);
  CHECK(problems("{type: encoder, dropout: 1}").size() == 1);
  CHECK(problems("{type: encoder, d_model: 12, heads: 3, groups: 2}") ==
        std::vector<std::string>{"model.groups: 2 does not divide 3 heads"});
  CHECK(problems("{type: encoder, rope_theta: 500}") ==
        std::vector<std::string>{"model.rope_theta: is only used with positions: rotary"});
  CHECK(problems("{type: decoder, d_model: 9, heads: 3, positions: rotary}") ==
        std::vector<std::string>{"model.positions: rotary positions turn pairs of numbers, and d_key is 3"});
  CHECK(problems("{type: encoder_decoder, positions: rotary}").empty());
}

TEST_CASE("options of positions that do not go together are problems", "[model][positions]") {
  CHECK(problems("{type: decoder, positions: rope, rope_pairs: interleaved, rope_fraction: 0.5}").empty());
  CHECK(problems("{type: decoder, d_model: 24, positions: rotary, rope_fraction: 0.5}") ==
        std::vector<std::string>{
            "model.rope_fraction: rotary positions turn pairs of numbers, and this share of d_key 6 is 3"});
  CHECK(problems("{type: decoder, positions: alibi, rope_fraction: 0.5, rope_pairs: neighbours}") ==
        std::vector<std::string>{"model.rope_fraction: is only used with positions: rotary",
                                 "model.rope_pairs: is only used with positions: rotary"});
  CHECK(problems("{type: encoder, t5_buckets: 8, shaw_values: false}") ==
        std::vector<std::string>{"model.t5_buckets: is only used with positions: t5",
                                 "model.shaw_values: is only used with positions: shaw"});
  CHECK(problems("{type: encoder, positions: t5, t5_buckets: 6}") ==
        std::vector<std::string>{"model.t5_buckets: 6 is no multiple of 4: an encoder has half of them for each side, "
                                 "and half of those for one distance each"});
  CHECK(problems("{type: decoder, positions: t5, t5_buckets: 6}").empty());
  CHECK(problems("{type: decoder, positions: t5, t5_buckets: 5}") ==
        std::vector<std::string>{"model.t5_buckets: 5 is odd: half of them are for one distance each"});
  CHECK(problems("{type: decoder, positions: t5, t5_max_distance: 16}") ==
        std::vector<std::string>{
            "model.t5_max_distance: 16 leaves no room behind the 16 distances that have a bucket of their own"});
  CHECK(problems("{type: decoder, positions: shaw, shaw_max_distance: 0}").size() == 1);
}

TEST_CASE("a pattern is given to all layers or to each, by name or with options", "[model][pattern]") {
  const auto patterns_of = [](const std::string& attention) {
    const auto decoder = family("{type: decoder, d_model: 8, layers: 2, heads: 2, attention: " + attention + "}");
    const auto model = decoder->build(input_of(0));
    const TransformerConfig& sizes = as_transformer(model).sizes();
    return std::pair(sizes.pattern_of_layer(0), sizes.pattern_of_layer(1));
  };
  const PatternOptions local = LocalOptions{.window = 3}, full = FullOptions();
  CHECK((patterns_of("full") == std::pair(full, full)));
  CHECK((patterns_of("{local: {window: 3}}") == std::pair(local, local)));
  CHECK((patterns_of("[{local: {window: 3}}]") == std::pair(local, local)));
  CHECK((patterns_of("[full, {local: {window: 3}}]") == std::pair(full, local)));
  CHECK((patterns_of("[{local: {window: 3}}, {local: {window: 3}}]") == std::pair(local, local)));
  CHECK((patterns_of("[{strided: {stride: 4, heads: [strided]}}, {fixed: {stride: 4, summary: 1}}]") ==
         std::pair<PatternOptions, PatternOptions>(StridedOptions{.stride = 4, .heads = {StridedHead::strided}},
                                                   FixedOptions{.stride = 4, .summary = 1})));
}

TEST_CASE("patterns that cannot be are problems with a sentence each", "[model][pattern]") {
  const auto problem = [](const std::string& options) {
    const auto all = problems("{" + options + "}");
    REQUIRE(all.size() == 1);
    return all.front();
  };
  CHECK(problem("type: decoder, attention: local") ==
        "model.attention.0.local.window: missing; this key must be given");
  CHECK(problem("type: decoder, attention: {local: {window: 0}}") ==
        "model.attention.0.local.window: must be between 1 and 16777216, got 0");
  CHECK(problem("type: decoder, attention: {strided: {stride: 0}}") ==
        "model.attention.0.strided.stride: must be between 1 and 16777216, got 0");
  CHECK(problem("type: decoder, attention: {strided: {stride: 2, heads: []}}") ==
        "model.attention.0.strided.heads: must not be empty");
  CHECK(problem("type: decoder, attention: {fixed: {stride: 4, summary: 5}}") ==
        "model.attention.0.fixed: summary 5 is more than a block has, stride 4");
  CHECK_THAT(problem("type: decoder, attention: {locall: {window: 2}}"), ContainsSubstring("did you mean 'local'?"));
  CHECK(problem("type: decoder, layers: 3, attention: [full, full]") ==
        "model.attention: has 2 patterns and the model 3 layers; give one for all, or one for each");
  CHECK(
      problem("type: encoder_decoder, layers: 2, decoder_layers: 3, attention: [full, full]") ==
      "model.attention: has 2 patterns for 2 layers of the encoder and 3 of the decoder; give one for all, or both as "
      "many layers");
  CHECK(problem("type: encoder_decoder, cross_attention: {local: {window: 2}}") ==
        "model.cross_attention: local keeps to keys near the query, and a token of the target stands nowhere in the "
        "source; leave cross_attention at full");
  CHECK(problem("type: encoder_decoder, cross_attention: {strided: {stride: 2}}") ==
        "model.cross_attention: strided counts keys back from the query, and a token of the target stands nowhere in "
        "the source; leave cross_attention at full");
  CHECK(problem("type: encoder_decoder, cross_attention: {fixed: {stride: 2, summary: 1}}") ==
        "model.cross_attention: fixed divides one text into blocks, and the texts of a translation differ in length; "
        "leave cross_attention at full");
  CHECK(problems("{type: encoder_decoder, cross_attention: full, attention: {local: {window: 2}}}").empty());
}

TEST_CASE("variants of a model are trained here, saved, pruned and loaded again", "[model][groups]") {
  for (const char* type : {"encoder", "decoder"}) {
    INFO(type);
    const auto variant = family(
        fmt::format("{{type: {}, d_model: 12, layers: 2, heads: 6, groups: 2, d_key: 4, d_value: 3, norm_type: rms, "
                    "feed_forward: gated, activation: silu, bias: false, positions: rotary, rope_theta: 50}}",
                    type));
    const bool encoder = std::string(type) == "encoder";
    const auto model = variant->build(input_of(encoder ? 4 : 0));
    model->eval();
    disturb(*model, 7);
    CHECK(variant->parameter_estimate(input_of(encoder ? 4 : 0)) == parameter_count(*model));
    for (const auto& entry : model->named_parameters()) CHECK_FALSE(entry.key().ends_with(".bias"));
    CHECK(model->attention(0).key().weight.sizes() == torch::IntArrayRef({8, 12}));
    // A whole group of one layer, single heads of the other.
    const Kind kind = encoder ? Kind::encoder : Kind::decoder;
    const HeadSet removed = head_set(kind, {{0, 3}, {0, 4}, {0, 5}, {1, 0}, {1, 4}});
    HeadProbe probe;
    probe.gates = mask_gates(model->blocks(), removed, torch::kCPU);
    const torch::NoGradGuard no_grad;
    const torch::Tensor masked = model->forward(small_batch(), probe).values;
    model->remove_heads(removed);
    const TestFolder folder;
    FolderWriter writer(folder / "saved");
    write_model(writer, *model, nullptr, {});
    writer.commit();
    const auto loaded = family(fmt::format("{{type: {}, init: load, path: saved}}", type), folder.path())
                            ->build(input_of(encoder ? 4 : 0));
    loaded->eval();
    const torch::Tensor again = loaded->forward(small_batch()).values;
    const auto real = [&](const torch::Tensor& values) {
      return encoder ? values : values.index({small_batch().present});
    };
    CHECK(max_difference(real(masked), real(again)) < 1e-5);
    CHECK(loaded->sizes() == model->sizes());
    CHECK(loaded->attention(0).groups() == std::vector<int64_t>{0});
  }
}

TEST_CASE("a folder that states none of the later sizes has their defaults", "[model]") {
  const SavedModel saved;
  const Json config = parse_json(read_file(saved.folder() / "saved/config.json"), "config");
  for (const char* key : {"groups", "feed_forward", "norm_type", "attention_bias", "head_bias", "window"})
    CHECK_FALSE(config.contains(key));  // as before they were there
  CHECK(config["norm"] == "pre");
}

TEST_CASE("init: load takes sizes, weights and missing heads from the folder", "[model]") {
  const SavedModel saved;
  const auto loaded = family("{type: encoder, init: load, path: saved, dropout: 0.3}", saved.folder());
  REQUIRE(loaded->load_path().has_value());
  CHECK(loaded->blocks()[1].heads == std::vector<int64_t>{1, 2});
  CHECK(loaded->parameter_estimate(input_of(4)) == parameter_count(*saved.model));
  const auto model = loaded->build(input_of(4));
  CHECK(model->is_training());
  CHECK(as_transformer(model).sizes().dropout == 0.3);
  model->eval();
  CHECK(torch::equal(real_logits(*model, small_batch()), real_logits(*saved.model, small_batch())));
}

TEST_CASE("init: load refuses data that the model does not fit", "[model]") {
  const SavedModel saved;
  const auto loaded = family("{type: encoder, init: load, path: saved}", saved.folder());
  ModelInput words = input_of(4), labels = input_of(5), longer = input_of(4);
  words.vocabulary_size = 12;
  longer.max_length = 10;
  CHECK_THROWS_WITH(loaded->build(words), ContainsSubstring("the model has 11 tokens and the tokenizer 12"));
  CHECK_THROWS_WITH(loaded->build(labels), ContainsSubstring("the model has 4 labels and the data 5"));
  CHECK_THROWS_WITH(loaded->build(longer), ContainsSubstring("9 positions and the data sequences of 10 tokens"));
  ModelInput shorter = input_of(4);
  shorter.max_length = 3;
  CHECK(loaded->build(shorter) != nullptr);
}

TEST_CASE("training starts a classifier for another number of labels in a folder of headprune's own too", "[model]") {
  const SavedModel saved;
  const auto loaded = family("{type: encoder, init: load, path: saved}", saved.folder());
  CHECK(loaded->labels().names == std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3"});
  ModelInput input = input_of(2);
  input.labels = {"no", "yes"};
  input.trains = true;
  const auto model = loaded->build(input);
  CHECK(real_logits(*model, small_batch()).sizes() == torch::IntArrayRef({3, 2}));
  CHECK(model->config()["outputs"] == 2);
  CHECK(model->config()["id2label"]["1"] == "yes");
  CHECK(torch::equal(model->named_parameters()["embeddings.tokens"],
                     saved.model->named_parameters()["embeddings.tokens"]));
}

TEST_CASE("init: load finds its problems before any work starts", "[model]") {
  const SavedModel saved;
  CHECK(problems("{type: encoder, init: load, path: saved, d_model: 12, layers: 3, d_key: 5}", saved.folder()).empty());
  CHECK(
      problems("{type: encoder, init: load, path: saved, layers: 7, d_key: 6}", saved.folder()) ==
      std::vector<std::string>{"model.layers: is 7 but the model in `path` has 3; with init: load sizes come from the "
                               "folder, leave this key out",
                               "model.d_key: is 6 but the model in `path` has 5; with init: load sizes come from the "
                               "folder, leave this key out"});
  CHECK(
      problems("{type: encoder, init: load, path: saved, positions: alibi, attention: {local: {window: 2}}}",
               saved.folder()) ==
      std::vector<std::string>{"model.positions: is \"alibi\" but the model in `path` has \"learned\"; with init: load "
                               "sizes come from the folder, leave this key out",
                               "model.attention: is [{\"local\":{\"window\":2}}] but the model in `path` has full; "
                               "with init: load patterns come from the folder, leave this key out"});
  const auto wrong_family = problems("{type: decoder, init: load, path: saved}", saved.folder());
  REQUIRE(wrong_family.size() == 1);
  CHECK_THAT(wrong_family[0], ContainsSubstring("holds a model of type encoder; load it with model.type: encoder"));
  const auto no_model = problems("{type: decoder, init: load, path: .}", saved.folder());
  REQUIRE(no_model.size() == 1);
  CHECK_THAT(no_model[0], ContainsSubstring("has no config.json"));
}

}  // namespace
}  // namespace headprune
