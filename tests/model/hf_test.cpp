// Agreement with transformers 4.57, family by family.
#include "data/vocabulary.h"
#include "hf_golden.h"
#include "model/checkpoint.h"
#include "model/export.h"
#include "model/id_check.h"
#include "model/transformer.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

const char* const kCases[] = {"bert_classifier", "bert_regression", "distilbert_classifier", "roberta_classifier",
                              "gpt2_lm"};
using Ids = std::vector<int64_t>;

NamedTensors tensors_in(const fs::path& folder) { return read_tensors(folder / "model.safetensors"); }

void check_equal(const NamedTensors& a, const NamedTensors& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, tensor] : a) {
    INFO(name);
    REQUIRE(b.contains(name));
    CHECK(torch::equal(tensor, b.at(name)));
  }
}

}  // namespace

TEST_CASE("logits are those of transformers, padded and alone", "[hf]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kCases) {
    INFO(name);
    const HfGolden golden(name);
    const auto model = golden.model();
    CHECK(logits_difference(model->forward(golden.batch()).values, golden.expected["logits"]) < kClose);
    CHECK(alone_difference(*model, golden, golden.expected["alone"]["logits"]) < kClose);
  }
}

TEST_CASE("RoBERTa's positions do not count padding inside a text, and types mean nothing to it", "[hf][ids]") {
  const torch::NoGradGuard no_grad;
  HfGolden golden("roberta_classifier");
  const auto model = golden.model();
  const torch::Tensor usual = model->forward(golden.batch()).values;  // [N, labels]
  const Json& inside = golden.expected["padding_inside"];
  for (size_t i = 0; i < golden.examples.size(); ++i) {
    Ids& tokens = golden.examples[i].tokens;
    tokens = inside["tokens"][i].get<Ids>();
    tokens.resize(inside["lengths"][i].get<size_t>());
  }
  CHECK(logits_difference(model->forward(golden.batch()).values, inside["logits"]) < kClose);
  CHECK(alone_difference(*model, golden, inside["logits"]) < kClose);
  HfGolden typed("roberta_classifier");
  for (Example& example : typed.examples) example.token_types.assign(example.tokens.size(), 1);
  CHECK(torch::equal(model->forward(typed.batch()).values, usual));
}

TEST_CASE("ids that a model's tables lack are refused with the example, before any pass", "[hf][ids]") {
  const HfGolden golden("bert_classifier");
  const TransformerConfig sizes = golden.model()->sizes();
  std::vector<std::string> words;
  for (int i = 0; i < 60; ++i) words.push_back(fmt::format("w{}", i));
  const auto dataset = [&](const Example& example) {
    Dataset data;
    Split split{.name = "dev", .examples = golden.examples, .sha256 = ""};
    split.examples.insert(split.examples.begin() + 2, example);
    data.tokenizer = std::make_shared<const Vocabulary>(Vocabulary::of(words));
    data.train = data.score = data.select = data.report = std::make_shared<const Split>(std::move(split));
    return data;
  };
  const auto sentence = [&](const Example& example, const TransformerConfig& tables) -> std::string {
    try {
      check_ids(dataset(example), tables, "FOLDER");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::run_failed);
      return error.what();
    }
    return "";
  };
  const Example fits{.tokens = {49, 0}, .token_types = {0, 1}, .special = {}, .targets = {}};
  CHECK(sentence(fits, sizes).empty());
  CHECK_THAT(sentence({.tokens = {1, 50}, .token_types = {}, .special = {}, .targets = {}}, sizes),
             ContainsSubstring("FOLDER: example 3 of the dev part holds the token") && ContainsSubstring("of id 50") &&
                 ContainsSubstring("50 rows (ids 0 to 49)"));
  CHECK_THAT(sentence({.tokens = {1, 2}, .token_types = {0, 2}, .special = {}, .targets = {}}, sizes),
             ContainsSubstring("tokens of type 2, and the model's table of token types has 2 rows"));
  TransformerConfig one_type = sizes;
  one_type.token_types = 1;
  CHECK_THAT(sentence(fits, one_type), ContainsSubstring("tokens of type 1") && ContainsSubstring("model_input_names"));
  one_type.ignores_token_types = true;
  CHECK(sentence(fits, one_type).empty());
  CHECK(drops_token_types(dataset(fits), one_type));
  CHECK_FALSE(drops_token_types(dataset(fits), sizes));
  Example longer = fits;
  longer.tokens.assign(21, 1);
  longer.token_types.clear();
  CHECK_THAT(sentence(longer, sizes), ContainsSubstring("has 21 tokens, and the model 20 positions"));
  Example target = fits;
  target.targets = {kNoTarget, 51};
  CHECK_THAT(sentence(target, sizes), ContainsSubstring("of id 51"));
}

TEST_CASE("an outline has the tensors of the model, without memory, from headers alone", "[hf][ids]") {
  for (const char* name : {"bert_classifier", "bert_regression", "bert_sharded", "bert_old_names",
                           "distilbert_classifier", "roberta_classifier", "gpt2_lm", "marian"}) {
    INFO(name);
    const fs::path folder = HfGolden(name).folder;
    const ModelFolder read = read_model_folder(folder);
    const ModelInput input{
        .vocabulary_size = read.config.vocabulary_size, .outputs = read.config.outputs, .max_length = 2};
    const auto outline = outline_loaded(read, input);
    const NamedTensors shapes = state(*outline), built = state(*build_loaded(read, input));
    REQUIRE(shapes.size() == built.size());
    for (const auto& [tensor, value] : built) {
      CHECK(shapes.at(tensor).sizes() == value.sizes());
      CHECK(shapes.at(tensor).is_meta());
    }
    CHECK((all_heads(outline->blocks()) == all_heads(read.blocks())));
  }
  // Of a folder that lost heads, too.
  const HfGolden golden("bert_classifier");
  const TestFolder target;
  const HeadSet removed = heads_of(golden.expected["pruned"]["removed"], Kind::encoder);
  export_model({.model = golden.folder, .removed = removed, .target = target / "small", .metadata = {}});
  const ModelFolder small = read_model_folder(target / "small");
  const auto outline = outline_loaded(small, {.vocabulary_size = 50, .outputs = 3, .max_length = 20});
  CHECK(all_heads(outline->blocks()).size() == 9);
  CHECK(sizes_json(small)["heads_removed"] == 3);
}

TEST_CASE("gates of 0 and removed heads give what head_mask and prune_heads give", "[hf]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kCases) {
    INFO(name);
    const HfGolden golden(name);
    const Batch batch = golden.batch();
    for (const Json& masked : golden.expected["masked"]) {
      const auto model = golden.model();
      const HeadSet removed = heads_of(masked["removed"], model->blocks().front().id.kind);
      REQUIRE(removed.size() >= 3);
      HeadProbe probe;
      probe.gates = mask_gates(model->blocks(), removed, torch::kCPU);
      CHECK(logits_difference(model->forward(batch, probe).values, masked["logits"]) < kClose);
      model->remove_heads(removed);
      CHECK(logits_difference(model->forward(batch).values, masked["logits"]) < kClose);
    }
    const auto model = golden.model();
    model->remove_heads(heads_of(golden.expected["pruned"]["removed"], model->blocks().front().id.kind));
    CHECK(logits_difference(model->forward(batch).values, golden.expected["pruned"]["logits"]) < kClose);
  }
}

TEST_CASE("losses and their gradients in every gate are those of transformers in float64", "[hf]") {
  for (const char* name : kCases) {
    INFO(name);
    CHECK(gradient_difference(HfGolden(name)) < 1e-7);
  }
}

TEST_CASE("a bare encoder gives transformers' states, and a classifier only where it is trained", "[hf]") {
  const HfGolden golden("bert_bare");
  CHECK_THROWS_WITH(golden.model(),
                    ContainsSubstring("the folder has no task head (BertForSequenceClassification); add "
                                      "a train section"));
  ModelInput input{
      .vocabulary_size = 50, .outputs = 4, .labels = {"a", "b", "c", "d"}, .trains = true, .max_length = 20, .seed = 5};
  const auto model = std::dynamic_pointer_cast<Transformer>(build_loaded(read_model_folder(golden.folder), input));
  model->eval();
  const torch::NoGradGuard no_grad;
  CHECK(logits_difference(model->encode(golden.batch()).values, golden.expected["last_hidden_state"]) < kClose);
  CHECK(model->forward(golden.batch()).values.sizes() == torch::IntArrayRef({5, 4}));
  CHECK(model->config()["id2label"]["3"] == "d");
  // For regression one output, which config.json says in transformers' words.
  input.outputs = 1;
  input.labels = {};
  const Json config = build_loaded(read_model_folder(golden.folder), input)->config();
  CHECK(config["id2label"] == Json{{"0", "LABEL_0"}});
  CHECK(config["problem_type"] == "regression");
  input.trains = false;
  CHECK_THROWS_AS(build_loaded(read_model_folder(golden.folder), input), Error);
}

TEST_CASE("sharded files and the names of old checkpoints read alike", "[hf]") {
  const NamedTensors expected = state(*HfGolden("bert_classifier").model());
  for (const char* name : {"bert_sharded", "bert_old_names"}) {
    INFO(name);
    check_equal(state(*HfGolden(name).model()), expected);
  }
}

TEST_CASE("a written folder has the names, shapes and config.json that it was read from", "[hf]") {
  for (const char* name : kCases) {
    INFO(name);
    const HfGolden golden(name);
    const TestFolder folder;
    export_model({.model = golden.folder, .removed = {}, .target = folder / "same", .metadata = {}});
    check_equal(tensors_in(folder / "same"), tensors_in(golden.folder));
    CHECK(parse_json(read_file(folder / "same/config.json"), "a") ==
          parse_json(read_file(golden.folder / "config.json"), "b"));
  }
}

TEST_CASE("compact and zeroed exports reload to the masked logits and keep original head ids", "[hf]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kCases) {
    INFO(name);
    const HfGolden golden(name);
    const TestFolder folder;
    const Kind kind = golden.model()->blocks().front().id.kind;
    const Json& layers = golden.expected["pruned"]["removed"];
    const HeadSet removed = heads_of(layers, kind);
    for (const ExportForm form : {ExportForm::compact, ExportForm::zeroed}) {
      const bool compact = form == ExportForm::compact;
      const fs::path target = folder / (compact ? "compact" : "zeroed");
      const ExportResult result =
          export_model({.model = golden.folder, .removed = removed, .form = form, .target = target, .metadata = {}});
      CHECK(result.heads == 9);
      CHECK(result.intact_heads == 12);
      CHECK((result.parameters < result.intact_parameters) == compact);
      const Json config = parse_json(read_file(target / "config.json"), "config");
      CHECK(config.contains("pruned_heads") == compact);
      if (compact) CHECK(config["pruned_heads"] == layers);
      const auto model = load_model(read_model_folder(target), torch::kCPU);
      CHECK(logits_difference(model->forward(golden.batch()).values, golden.expected["pruned"]["logits"]) < kClose);
      CHECK(model->removed_heads() == removed);
      // Head 2 of layer 0 stands at another place now; its id is still 2.
      const HeadSet more({HeadId{{kind, 0}, 2}});
      export_model({.model = target, .removed = more, .target = target.string() + "-again", .metadata = {}});
      const ModelFolder again = read_model_folder(target.string() + "-again");
      CHECK(again.removed.in_block({kind, 0}) == std::vector<int64_t>{1, 2});
      HeadProbe probe;
      const auto intact = golden.model();
      probe.gates = mask_gates(intact->blocks(), again.removed, torch::kCPU);
      const torch::Tensor expected = intact->forward(golden.batch(), probe).values;
      const torch::Tensor got = load_model(again, torch::kCPU)->forward(golden.batch()).values;
      CHECK((golden.outputs() > 0 ? got - expected : (got - expected).index({golden.batch().present}))
                .abs()
                .max()
                .item<double>() < 1e-5);
    }
    // The shapes of heads that are gone come back as zeros.
    export_model({.model = folder / "compact",
                  .removed = {},
                  .form = ExportForm::zeroed,
                  .target = folder / "back",
                  .metadata = {}});
    const auto back = load_model(read_model_folder(folder / "back"), torch::kCPU);
    CHECK(logits_difference(back->forward(golden.batch()).values, golden.expected["pruned"]["logits"]) < kClose);
    for (const auto& [tensor, value] : tensors_in(golden.folder))
      CHECK(tensors_in(folder / "back").at(tensor).sizes() == value.sizes());
  }
}

TEST_CASE("heads that another tool removed are known by pruned_heads alone", "[hf]") {
  const HfGolden golden("bert_classifier");
  const TestFolder folder;
  const HeadSet removed = heads_of(golden.expected["pruned"]["removed"], Kind::encoder);
  export_model({.model = golden.folder, .removed = removed, .target = folder / "theirs", .metadata = {}});
  Json config = parse_json(read_file(folder / "theirs/config.json"), "config");
  config.erase("headprune");
  folder.write("theirs/config.json", config.dump());
  fs::remove(folder / "theirs/manifest.json");
  CHECK(read_model_folder(folder / "theirs").removed == removed);
  CHECK(load_model(read_model_folder(folder / "theirs"), torch::kCPU)->removed_heads() == removed);
}

TEST_CASE("an export never replaces anything and leaves nothing behind", "[hf]") {
  const HfGolden golden("bert_classifier");
  const TestFolder folder;
  folder.write("taken/file", "x");
  CHECK_THROWS_WITH(export_model({.model = golden.folder, .removed = {}, .target = folder / "taken", .metadata = {}}),
                    ContainsSubstring("exists"));
  const HeadSet never({HeadId{{Kind::encoder, 7}, 0}});
  CHECK_THROWS_WITH(export_model({.model = golden.folder, .removed = never, .target = folder / "new", .metadata = {}}),
                    ContainsSubstring("never had head encoder.L7.H0"));
  CHECK(folder.names() == std::vector<std::string>{"taken"});
}
