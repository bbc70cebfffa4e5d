// Folders of other tools that are unusual and good, and what is said of those that are not.
#include <cstdlib>

#include "damaged.h"
#include "marian_golden.h"
#include "model/export.h"
#include "model/generation_check.h"
#include "model/transformer.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

constexpr double kEqualLogits = 1e-5;

using TensorMove = std::pair<std::string, std::string>;

/// Moves a tensor of the file to another name.
void move_tensors(const Damaged& damaged, const std::vector<TensorMove>& names) {
  damaged.tensors([&](NamedTensors& all) {
    for (const auto& [from, to] : names) {
      const auto node = all.find(from);
      REQUIRE(node != all.end());
      all[to] = node->second;
      all.erase(from);
    }
  });
}

/// Whether the folder computes what the golden model does.
bool same_logits(const Damaged& damaged, const std::string& name) {
  const torch::NoGradGuard no_grad;
  const HfGolden golden(name);
  const auto model = load_model(read_model_folder(damaged.path()), torch::kCPU);
  return logits_difference(model->forward(golden.batch()).values, golden.expected["logits"]) < kEqualLogits;
}

}  // namespace

TEST_CASE("a token table may be larger than the tokenizer, not smaller", "[hf]") {
  const Damaged model;
  for (const int64_t tokens : {50, 44, 7})
    CHECK(model.error({.vocabulary_size = tokens, .outputs = 3, .max_length = 20}).empty());
  CHECK_FALSE(model.error({.vocabulary_size = 51, .outputs = 3, .max_length = 20}).empty());
}

TEST_CASE("without a model_type the model is what YAML says", "[hf]") {
  const Damaged model;
  model.config("model_type", Json());
  CHECK_THAT(model.error(),
             ContainsSubstring("config.json: model_type '' is not supported; add it, or load the folder with "
                               "model.type"));
  const ModelFolder folder = read_model_folder(model.path(), "bert");
  CHECK(folder.model_type() == "bert");
  const TestFolder target;
  export_model({.model = model.path(), .removed = {}, .target = target / "out", .metadata = {}, .type = "bert"});
  CHECK(read_model_folder(target / "out").model_type() == "bert");
}

TEST_CASE("buffers and heads of other tasks are left out", "[hf]") {
  const Damaged bert;
  bert.tensors([](NamedTensors& all) {
    all["loss_fct.weight"] = torch::ones({3});
    all["bert.embeddings.token_type_ids"] = torch::zeros({1, 20}, torch::kInt64);
    all["bert.embeddings.position_ids"] = torch::zeros({1, 20}, torch::kInt64);
    all["qa_outputs.weight"] = torch::zeros({2, 24});
    all["cls.seq_relationship.bias"] = torch::zeros({2});
  });
  CHECK(same_logits(bert, "bert_classifier"));
  const Damaged roberta("roberta_classifier");
  roberta.tensors([](NamedTensors& all) {
    all["roberta.embeddings.token_type_ids"] = torch::zeros({1, 20}, torch::kInt64);
    all["qa_outputs.bias"] = torch::zeros({2});
  });
  CHECK(same_logits(roberta, "roberta_classifier"));
  const Damaged gpt2("gpt2_lm");
  gpt2.tensors([](NamedTensors& all) { all["score.weight"] = torch::zeros({2, 24}); });
  CHECK(same_logits(gpt2, "gpt2_lm"));
}

TEST_CASE("a tied copy stands for the tensor that its file lacks", "[hf]") {
  const Damaged gpt2("gpt2_lm");
  move_tensors(gpt2, {{"transformer.wte.weight", "lm_head.weight"}});
  CHECK(same_logits(gpt2, "gpt2_lm"));
  for (const char* copy :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}) {
    const Damaged marian("marian");
    move_tensors(marian, {{"model.shared.weight", copy}});
    CHECK(same_logits(marian, "marian"));
  }
  const Damaged bert;
  move_tensors(bert, {{"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"}});
  CHECK(same_logits(bert, "bert_classifier"));
  // Beside the tensor it is not read, whatever it holds.
  const Damaged both("gpt2_lm");
  both.tensors([](NamedTensors& all) { all["lm_head.weight"] = torch::zeros_like(all.at("transformer.wte.weight")); });
  CHECK(same_logits(both, "gpt2_lm"));
}

TEST_CASE("a prefix that all names have is read over", "[hf]") {
  for (const char* name : {"bert_classifier", "roberta_classifier", "gpt2_lm", "marian", "bert_regression"})
    for (const char* prefix : {"module.", "_orig_mod.", "wrapped.model."}) {
      INFO(name << " " << prefix);
      const Damaged model(name);
      model.tensors([&](NamedTensors& all) {
        NamedTensors renamed;
        for (const auto& [tensor, value] : all) renamed[prefix + tensor] = value;
        all = renamed;
      });
      CHECK(same_logits(model, name));
      if (std::string(name) == "bert_classifier")
        CHECK(classifier_labels(read_model_folder(model.path())).names.size() == 3);
    }
}

TEST_CASE("another tool's manifest.json says nothing", "[hf]") {
  const Damaged model;
  for (const char* text : {"{\"files\": [\"a\"], \"schema_version\": 3}", "[]", "not JSON"}) {
    write_file(model.path() / "manifest.json", text);
    CHECK(model.error().empty());
  }
  const TestFolder target;
  const ExportResult result =
      export_model({.model = model.path(), .removed = {}, .target = target / "out", .metadata = {}});
  CHECK(verify_manifest(target / "out").empty());
  CHECK_THAT(result.notes.back(), ContainsSubstring("not copied") && ContainsSubstring("manifest.json"));
}

TEST_CASE("lists of tensors end after five", "[hf]") {
  const Damaged model;
  model.tensors([](NamedTensors& all) {
    for (const char* layer : {"0", "1"})
      for (const char* part : {"query", "key", "value"})
        for (const char* kind : {"weight", "bias"})
          all.erase(fmt::format("bert.encoder.layer.{}.attention.self.{}.{}", layer, part, kind));
  });
  const std::string error = model.error();
  CHECK_THAT(error, ContainsSubstring("; and 7 more"));
  size_t missing = 0;
  for (size_t at = error.find("is missing"); at != std::string::npos; at = error.find("is missing", at + 1)) ++missing;
  CHECK(missing == 5);
}

TEST_CASE("weights in another form are called what they are", "[hf]") {
  const auto error_with = [](const std::string& file, const std::string& bytes) {
    const Damaged model;
    fs::remove(model.path() / "model.safetensors");
    write_file(model.path() / file, bytes);
    write_file(model.path() / "training_args.bin", std::string("PK\x03\x04") + "options");
    return model.error();
  };
  const std::string pickle = std::string("PK\x03\x04") + "archive/data.pkl";
  CHECK_THAT(error_with("pytorch_model.bin", pickle), ContainsSubstring("pytorch_model.bin is a pickle file"));
  CHECK_THAT(error_with("pytorch_model-00001-of-00002.bin", pickle), ContainsSubstring("glob('pytorch_model*.bin')"));
  const std::string ctranslate2 = std::string("\x06\0\0\0\x10\0", 6) + "TransformerSpec" + std::string("\0\x06", 2);
  const std::string error = error_with("model.bin", ctranslate2);
  CHECK_THAT(error, ContainsSubstring("model.bin is a model of CTranslate2") && !ContainsSubstring("pickle"));
  CHECK_THAT(error_with("model.gguf", "GGUF\x03"), ContainsSubstring("GGUF file of llama.cpp"));
  CHECK_THAT(error_with("tf_model.h5", "\x89HDF"), ContainsSubstring("from_tf=True"));
  CHECK_THAT(error_with("model.onnx", "x"), ContainsSubstring("is an ONNX file"));
  CHECK_THAT(error_with("model.bin", "????"), ContainsSubstring("model.bin is no file of safetensors"));
  CHECK_THAT(error_with("notes.txt", "x"), ContainsSubstring("model.safetensors is missing"));
}

TEST_CASE("quantised weights are named as such", "[hf]") {
  const Damaged said;
  said.config("quantization_config", {{"quant_method", "gptq"}, {"bits", 4}});
  CHECK_THAT(said.error(), ContainsSubstring("quantization_config says that the weights are quantised (quant_method "
                                             "gptq)"));
  const Damaged eight;
  eight.tensors([](NamedTensors& all) {
    const std::string name = "bert.encoder.layer.0.attention.self.query.weight";
    all[name] = torch::zeros({24, 24}, torch::kInt8);
    all["bert.encoder.layer.0.attention.self.query.SCB"] = torch::ones({24});
  });
  CHECK_THAT(eight.error(), ContainsSubstring("the weights are quantised, which is not supported (bert.encoder.layer.0."
                                              "attention.self.query.SCB"));
}

TEST_CASE("the conversion that is advised for a pickle works, tied tensors included", "[hf][transformers]") {
  const char* chosen = std::getenv("HEADPRUNE_PYTHON");
  const std::string python = chosen ? chosen : "python3";
  const Damaged model("gpt2_lm");
  const std::string where = "cd '" + model.path().string() + "' && " + python + " ";
  const char* const save =
      "-c \"import torch, safetensors.torch as s; d = s.load_file('model.safetensors'); "
      "d['lm_head.weight'] = d['transformer.wte.weight']; torch.save(d, 'pytorch_model.bin')\" 2>/dev/null";
  if (std::system((where + save).c_str()) != 0) {
    WARN("skipped: " << python << " has no torch and safetensors; set HEADPRUNE_PYTHON to one that has");
    return;
  }
  fs::remove(model.path() / "model.safetensors");
  const std::string error = model.error();
  const size_t command = error.find("python3 -c");
  REQUIRE(command != std::string::npos);
  REQUIRE(std::system((where + error.substr(command + std::string("python3 ").size())).c_str()) == 0);
  CHECK(same_logits(model, "gpt2_lm"));
}

TEST_CASE("an export keeps every file and key that it does not change", "[hf][marian]") {
  const Damaged model("marian");
  const std::string generation = "{\"num_beams\": 6, \"bad_words_ids\": [[29]], \"max_length\": 12}\n";
  write_file(model.path() / "generation_config.json", generation);
  write_file(model.path() / "LICENSE", "free");
  write_file(model.path() / "pytorch_model.bin", "PK\x03\x04");
  write_file(model.path() / ".gitattributes", "x");
  for (const char* inner : {"extra", "checkpoint-500", ".git"}) {
    fs::create_directory(model.path() / inner);
    write_file(model.path() / inner / "state.json", "{}");
  }
  model.config("my_key", {{"a", 1}});
  model.tensors([](NamedTensors&) {});
  for (const ExportForm form : {ExportForm::compact, ExportForm::zeroed}) {
    const TestFolder target;
    const ExportResult result = export_model({.model = model.path(),
                                              .removed = HeadSet({HeadId{{Kind::encoder, 0}, 1}}),
                                              .form = form,
                                              .target = target / "out",
                                              .metadata = {}});
    CHECK(read_file(target / "out/generation_config.json") == generation);
    CHECK(read_file(target / "out/LICENSE") == "free");
    CHECK(fs::exists(target / "out/extra/state.json"));
    for (const char* gone : {"pytorch_model.bin", ".gitattributes", "checkpoint-500", ".git"})
      CHECK_FALSE(fs::exists(target / "out" / gone));
    CHECK_THAT(result.notes.back(), ContainsSubstring("not copied") && ContainsSubstring("pytorch_model.bin"));
    const Json before = parse_json(read_file(model.path() / "config.json"), "a"),
               after = parse_json(read_file(target / "out/config.json"), "b");
    for (const auto& [key, value] : before.items()) {
      INFO(key);
      CHECK(after.contains(key));
      CHECK(after[key] == value);
    }
    CHECK(result.texts == 4);  // Marian writes, so what it writes is compared
    CHECK(verify_manifest(target / "out").empty());
  }
}

TEST_CASE("names of labels stay as the folder spells them", "[hf]") {
  const Damaged model;
  const Json id2label = {{"0", "good"}, {"1", "bad"}, {"2", "neither"}},
             label2id = {{"GOOD", 0}, {"bad", 1}, {"also", 1}};
  model.config("id2label", id2label);
  model.config("label2id", label2id);
  const TestFolder target;
  const ExportResult result =
      export_model({.model = model.path(), .removed = {}, .target = target / "out", .metadata = {}});
  const Json config = parse_json(read_file(target / "out/config.json"), "config");
  CHECK(config["id2label"] == id2label);
  CHECK(config["label2id"] == label2id);
  CHECK(result.texts == 0);  // a classifier writes none
}

TEST_CASE("models that write other texts are told apart", "[hf][marian]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : {"gpt2_lm", "marian"}) {
    INFO(name);
    const HfGolden golden(name);
    const auto source = golden.model(), same = golden.model(), other = golden.model();
    other->named_parameters()["embeddings.tokens"].neg_();
    std::vector<std::vector<int64_t>> texts;
    const GenerationEnds ends{.start = 29, .end = 0};
    const auto problem = [&](TransformerModel& written) {
      return generation_problem({.source = *source, .gates = {}, .written = written, .tolerance = kEqualLogits},
                                golden.examples, ends, texts);
    };
    CHECK(problem(*same).empty());
    CHECK(texts.size() == golden.examples.size());
    CHECK_THAT(problem(*other), ContainsSubstring("text 1 goes on with token"));
  }
}
