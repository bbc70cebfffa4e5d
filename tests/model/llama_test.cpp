// The Llama family against transformers 4.57 (tests/golden/make_llama.py), and what its folders may say.
#include "damaged.h"
#include "hf_golden.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "model/cost.h"

using namespace headprune;
using namespace headprune::testing;

TEST_CASE("logits of the Llama family are those of transformers, padded and alone", "[hf][llama]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kLlamaCases) {
    INFO(name);
    const HfGolden golden(name);
    const auto model = golden.model();
    CHECK(logits_difference(model->forward(golden.batch()).values, golden.expected["logits"]) < kClose);
    CHECK(alone_difference(*model, golden, golden.expected["alone"]["logits"]) < kClose);
    HeadProbe probe;
    probe.weights = true;  // the explicit path
    CHECK(logits_difference(model->forward(golden.batch(), probe).values, golden.expected["logits"]) < kClose);
  }
}

TEST_CASE("gates and removal of grouped heads give what a hook on the output projection gives", "[hf][llama]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kLlamaCases) {
    INFO(name);
    const HfGolden golden(name);
    for (const Json& masked : golden.expected["masked"]) {
      const auto model = golden.model();
      const HeadSet removed = heads_of(masked["removed"], Kind::decoder);
      HeadProbe probe;
      probe.gates = mask_gates(model->blocks(), removed, torch::kCPU);
      CHECK(logits_difference(model->forward(golden.batch(), probe).values, masked["logits"]) < kClose);
      const ModelCost cost = model_cost(*model, removed, {10});
      model->remove_heads(removed);
      CHECK(logits_difference(model->forward(golden.batch()).values, masked["logits"]) < kClose);
      CHECK(cost.params == parameter_count(*model));
    }
  }
}

TEST_CASE("losses of the Llama family and their gradients in every gate are those of transformers", "[hf][llama]") {
  for (const char* name : kLlamaCases) {
    INFO(name);
    // Angles are float32 on both sides, rounded in another order.
    CHECK(gradient_difference(HfGolden(name)) < 1e-6);
  }
}

TEST_CASE("an outline of the Llama family has the tensors of the model", "[hf][llama]") {
  for (const char* name : kLlamaCases) {
    INFO(name);
    const HfGolden golden(name);
    const ModelFolder read = read_model_folder(golden.folder);
    const ModelInput input{.vocabulary_size = 24, .max_length = 12};
    const NamedTensors shapes = state(*outline_loaded(read, input)), built = state(*build_loaded(read, input));
    REQUIRE(shapes.size() == built.size());
    for (const auto& [tensor, value] : built) CHECK(shapes.at(tensor).sizes() == value.sizes());
    CHECK(intact_parameters(read.config) == parameter_count(*golden.model()));
  }
}

TEST_CASE("positions are read in the words of transformers 4 and 5, or refused by their name", "[hf][llama]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("llama_biases");
  const auto error_of = [&](const char* name, const auto& change) -> std::string {
    const Damaged model(name);
    change(model);
    try {
      const auto loaded = load_model(read_model_folder(model.path()), torch::kCPU);
      const HfGolden values(name);
      const double off = logits_difference(loaded->forward(values.batch()).values, values.expected["logits"]);
      return off < kClose ? "" : fmt::format("differs by {}", off);
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Json scaling = parse_json(read_file(golden.folder / "config.json"), "config")["rope_scaling"];
  Json newer = scaling, older = scaling;
  newer["rope_theta"] = 100.0;
  older["type"] = older["rope_type"];
  older.erase("rope_type");
  CHECK(error_of("llama_biases", [&](const Damaged& model) {
          model.config("rope_parameters", newer);
          model.config("rope_theta", Json());
          model.config("rope_scaling", Json());
        }).empty());
  CHECK(error_of("llama_biases", [&](const Damaged& model) { model.config("rope_scaling", older); }).empty());
  for (const char* type : {"yarn", "dynamic", "longrope"})
    CHECK_THAT(error_of("llama",
                        [&](const Damaged& model) {
                          model.config("rope_scaling", {{"type", type}});
                        }),
               ContainsSubstring(
                   fmt::format("rope_type '{}' is not supported; supported are default, linear and llama3", type)));
  CHECK_THAT(error_of("llama", [](const Damaged& model) { model.config("partial_rotary_factor", 0.5); }),
             ContainsSubstring("partial_rotary_factor is 0.5; only 1.0 is supported"));
  CHECK_THAT(error_of("llama", [](const Damaged& model) { model.config("num_key_value_heads", 4); }),
             ContainsSubstring("num_key_value_heads 4 does not divide num_attention_heads 6"));
  CHECK_THAT(error_of("llama", [](const Damaged& model) { model.config("head_dim", 3); }),
             ContainsSubstring("rotary positions turn pairs of numbers, and a head has 3"));
}

TEST_CASE("windows are those of the folder, and of the family where it says nothing", "[hf][llama]") {
  const auto sizes_of = [](const char* name, const auto& change) {
    const Damaged model(name);
    change(model);
    return read_model_folder(model.path()).config;
  };
  const auto absent = [](const char* key) { return [key](const Damaged& model) { model.config(key, Json()); }; };
  CHECK(sizes_of("mistral", absent("sliding_window")).window == 4096);
  const TransformerConfig qwen = sizes_of("qwen2", [](const Damaged&) {});
  CHECK((qwen.window == 4 && !qwen.slides(0) && qwen.slides(1) && qwen.slides(2)));
  CHECK_FALSE(sizes_of("qwen2", [](const Damaged& model) {
                model.config("use_sliding_window", false);
                model.config("layer_types", Json());
              }).slides(2));
  CHECK(sizes_of("llama", [](const Damaged&) {}).window == 0);
}
