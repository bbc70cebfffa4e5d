// Folders of other tools that are refused: each with its own sentence, and nothing read from them.
#include "damaged.h"
#include "model/transformer.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

std::string config_error(const std::string& name, const std::string& key, const Json& value) {
  const Damaged damaged(name);
  REQUIRE(damaged.error({.vocabulary_size = 50, .outputs = name == "gpt2_lm" ? 0 : 3, .max_length = 20}).empty());
  damaged.config(key, value);
  return damaged.error();
}

}  // namespace

TEST_CASE("settings that change what a model computes are refused by name", "[hf]") {
  CHECK_THAT(config_error("bert_classifier", "model_type", "t5"),
             ContainsSubstring("model_type 't5' is not supported") && ContainsSubstring("roberta"));
  CHECK_THAT(config_error("bert_classifier", "hidden_act", "tanh"),
             ContainsSubstring("hidden_act is \"tanh\"; that activation is not supported; supported are gelu"));
  CHECK_THAT(config_error("bert_classifier", "position_embedding_type", "relative_key"),
             ContainsSubstring("only \"absolute\" is supported"));
  CHECK_THAT(config_error("bert_classifier", "is_decoder", true), ContainsSubstring("is_decoder is true"));
  CHECK_THAT(config_error("bert_classifier", "hidden_size", "24"),
             ContainsSubstring("hidden_size is \"24\"; expected a positive whole number"));
  CHECK_THAT(config_error("bert_classifier", "hidden_size", Json()), ContainsSubstring("hidden_size is missing"));
  CHECK_THAT(config_error("bert_classifier", "num_attention_heads", 5), ContainsSubstring("5 attention heads do not"));
  CHECK_THAT(config_error("bert_classifier", "layer_norm_eps", "x"), ContainsSubstring("expected a number"));
  CHECK_THAT(config_error("bert_classifier", "pruned_heads", {{"3", {0}}}),
             ContainsSubstring("pruned_heads names encoder.L3.H0"));
  CHECK_THAT(config_error("gpt2_lm", "scale_attn_by_inverse_layer_idx", true), ContainsSubstring("only false"));
  CHECK_THAT(config_error("gpt2_lm", "tie_word_embeddings", false), ContainsSubstring("only true"));
  CHECK_THAT(config_error("distilbert_classifier", "dim", 0), ContainsSubstring("dim is 0"));
}

TEST_CASE("missing, unexpected and misshapen tensors are listed with their shapes", "[hf]") {
  const Damaged damaged;
  damaged.tensors([](NamedTensors& all) {
    all.erase("bert.encoder.layer.1.attention.self.key.bias");
    all["bert.encoder.layer.9.x"] = torch::zeros({2});
    all["bert.pooler.dense.weight"] = torch::zeros({24, 23});
  });
  const std::string error = damaged.error();
  CHECK_THAT(error, ContainsSubstring("encoder.layer.1.attention.self.key.bias [24] is missing"));
  CHECK_THAT(error, ContainsSubstring("encoder.layer.9.x [2] is unexpected"));
  CHECK_THAT(error, ContainsSubstring("pooler.dense.weight is [24, 23] and should be [24, 24]"));
  const Damaged twice;
  twice.tensors([](NamedTensors& all) { all["pooler.dense.bias"] = torch::zeros({24}); });
  CHECK_THAT(twice.error(), ContainsSubstring("pooler.dense.bias is there with and without its prefix"));
}

TEST_CASE("a damaged file is refused with its reason", "[hf]") {
  const Damaged cut;
  const fs::path file = cut.path() / "model.safetensors";
  fs::resize_file(file, fs::file_size(file) - 4);
  CHECK_THAT(cut.error(), ContainsSubstring("model.safetensors"));
  const Damaged flipped;
  std::string bytes = read_file(flipped.path() / "model.safetensors");
  bytes[10] = static_cast<char>(bytes[10] ^ 0x80);
  write_file(flipped.path() / "model.safetensors", bytes);
  CHECK_FALSE(flipped.error().empty());
  const Damaged pickled;
  fs::rename(pickled.path() / "model.safetensors", pickled.path() / "pytorch_model.bin");
  CHECK_THAT(pickled.error(), ContainsSubstring("pytorch_model.bin is a pickle file"));
}

TEST_CASE("shards that do not fit their index are refused", "[hf]") {
  const char* const index = "model.safetensors.index.json";
  const Damaged missing("bert_sharded");
  fs::remove(missing.path() / "model-00002-of-00003.safetensors");
  CHECK_THAT(missing.error(), ContainsSubstring("the shard model-00002-of-00003.safetensors is missing"));
  const auto remap = [&](const Damaged& damaged, const std::string& tensor, const std::string& file) {
    Json json = parse_json(read_file(damaged.path() / index), "index");
    json["weight_map"][tensor] = file;
    write_file(damaged.path() / index, json.dump());
  };
  const Damaged outside("bert_sharded");
  remap(outside, "classifier.bias", "../model.safetensors");
  CHECK_THAT(outside.error(), ContainsSubstring("is not a plain file name"));
  const Damaged moved("bert_sharded");
  remap(moved, "classifier.bias", "model-00001-of-00003.safetensors");
  CHECK_THAT(moved.error(), ContainsSubstring("classifier.bias"));
  const Damaged empty("bert_sharded");
  write_file(empty.path() / index, "{\"weight_map\":{}}");
  CHECK_THAT(empty.error(), ContainsSubstring("no weight_map"));
}

TEST_CASE("a model that does not fit the data is refused before anything is computed", "[hf]") {
  const Damaged model;
  CHECK_THAT(model.error({.vocabulary_size = 51, .outputs = 3, .max_length = 20}),
             ContainsSubstring("the model has 50 tokens and the tokenizer 51"));
  CHECK_THAT(model.error({.vocabulary_size = 50, .outputs = 2, .max_length = 20}),
             ContainsSubstring("the model has 3 labels and the data 2"));
  CHECK_THAT(model.error({.vocabulary_size = 50, .outputs = 3, .max_length = 21}),
             ContainsSubstring("the model has 20 positions and the data sequences of 21 tokens"));
  CHECK(Damaged("roberta_classifier").error().empty());
  CHECK_THAT(Damaged("roberta_classifier").error({.vocabulary_size = 50, .outputs = 3, .max_length = 21}),
             ContainsSubstring("the model has 20 positions"));
  model.config("id2label", {{"0", "good"}, {"1", "bad"}, {"2", "neither"}});
  ModelInput input{.vocabulary_size = 50, .outputs = 3, .labels = {"bad", "good", "neither"}, .max_length = 20};
  CHECK_THAT(model.error(input), ContainsSubstring("set data.labels: [good, bad, neither]"));
  input.labels = {"good", "bad", "neither"};
  CHECK(model.error(input).empty());
  input.labels = {"0", "1", "2"};
  CHECK(model.error(input).empty());
}

TEST_CASE("one output is regression's: the other task, and other problem types, are refused", "[hf]") {
  const ModelInput one = {.vocabulary_size = 50, .outputs = 1, .max_length = 20};
  const Damaged regression("bert_regression"), classifier("bert_classifier");
  CHECK(regression.error(one).empty());
  CHECK_THAT(regression.error(), ContainsSubstring("the model has one output, for regression, and the data 3 labels"));
  CHECK_THAT(classifier.error(one), ContainsSubstring("the model has 3 labels and task regression needs one output"));
  regression.config("problem_type", "regression");
  CHECK(regression.error(one).empty());
  regression.config("problem_type", "single_label_classification");
  CHECK_THAT(regression.error(one), ContainsSubstring("with one output only regression is supported"));
  classifier.config("problem_type", "single_label_classification");
  CHECK(classifier.error().empty());
  classifier.config("problem_type", "regression");
  CHECK_THAT(classifier.error(), ContainsSubstring("with 3 outputs that is not supported"));
  classifier.config("problem_type", "multi_label_classification");
  CHECK_THAT(classifier.error(), ContainsSubstring("supported are single_label_classification and regression"));
}

TEST_CASE("labels come from every place of config.json, and contradictions between them are refused", "[hf]") {
  const Json words = {{"0", "good"}, {"1", "bad"}, {"2", "neither"}};
  const Json numbers = {{"good", 0}, {"bad", 1}, {"neither", 2}};
  const auto labels = [](const Damaged& model) { return read_model_folder(model.path()).labels; };
  const std::vector<std::string> expected = {"good", "bad", "neither"};
  const Damaged model;
  CHECK(labels(model) == std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"});
  model.config("label2id", numbers);  // beside id2label's placeholders
  CHECK(labels(model) == expected);
  model.config("id2label", words);
  CHECK(labels(model) == expected);
  model.config("label2id", {{"GOOD", 0}, {"fine", 0}, {"bad", "1"}});  // another case, an alias, one that is missing
  CHECK(labels(model) == expected);
  model.config("label2id", {{"bad", 0}, {"good", 1}, {"neither", 2}});
  CHECK_THAT(model.error(), ContainsSubstring("id2label calls output 0 \"good\" and label2id \"bad\""));
  model.config("label2id", {{"LABEL_0", 0}, {"LABEL_1", 1}, {"LABEL_2", 2}});
  CHECK(labels(model) == expected);
  model.config("label2id", {{"neither", 0}});
  CHECK_THAT(model.error(), ContainsSubstring("label2id"));
  model.config("label2id", {{"more", 3}});
  CHECK_THAT(model.error(), ContainsSubstring("label2id calls output 3 \"more\", and there are 3"));
  model.config("label2id", Json());
  model.config("num_labels", 4);
  CHECK_THAT(model.error(), ContainsSubstring("id2label has 3 labels and num_labels is 4"));
  model.config("num_labels", 3);
  CHECK(labels(model) == expected);
  model.config("id2label", {{"0", "good"}, {"2", "bad"}, {"3", "neither"}});
  CHECK_THAT(model.error(), ContainsSubstring("expected one name for each of the numbers 0 to 2"));
  model.config("id2label", Json());
  CHECK(labels(model).empty());
  model.config("num_labels", Json());
  model.config("label2id", numbers);  // alone
  CHECK(labels(model) == expected);
  CHECK(model.error().empty());
}

TEST_CASE("a classifier of another size is started anew where the experiment trains", "[hf]") {
  const HfGolden golden("bert_classifier");
  ModelInput input{
      .vocabulary_size = 50, .outputs = 2, .labels = {"ham", "spam"}, .trains = true, .max_length = 20, .seed = 5};
  const auto model = std::dynamic_pointer_cast<Transformer>(build_loaded(read_model_folder(golden.folder), input));
  model->eval();
  const torch::NoGradGuard no_grad;
  CHECK(model->forward(golden.batch()).values.sizes() == torch::IntArrayRef({5, 2}));
  CHECK(model->config()["id2label"] == Json{{"0", "ham"}, {"1", "spam"}});
  CHECK(model->config()["label2id"] == Json{{"ham", 0}, {"spam", 1}});
  const NamedTensors theirs = read_tensors(golden.folder / "model.safetensors"), ours = model->tensors();
  CHECK(torch::equal(ours.at("bert.pooler.dense.weight"), theirs.at("bert.pooler.dense.weight")));
  CHECK(ours.at("classifier.weight").abs().sum().item<double>() > 0);
  input.trains = false;
  CHECK_THROWS_WITH(build_loaded(read_model_folder(golden.folder), input),
                    ContainsSubstring("the model has 3 labels and the data 2"));
  // Regression and classification are not each other's other size.
  input.trains = true;
  input.outputs = 1;
  CHECK_THROWS_WITH(build_loaded(read_model_folder(golden.folder), input), ContainsSubstring("needs one output"));
}
