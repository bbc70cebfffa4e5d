// Reading config.json of another tool.
#include "core/error.h"
#include "core/text.h"
#include "model/hf_layout.h"
#include "model/label_names.h"

namespace headprune {
namespace {

constexpr std::pair<const char*, Activation> kActivations[] = {
    {"gelu", Activation::gelu},          {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"relu", Activation::relu},          {"silu", Activation::silu},
    {"swish", Activation::silu},
};

}  // namespace

void HfConfig::refuse(const char* key, const std::string& expected) const {
  fail(ExitCode::run_failed, "{}: {} is {}; {}", where_, key, json_.contains(key) ? dump_json(json_[key]) : "missing",
       expected);
}

int64_t HfConfig::size(const char* key, std::optional<int64_t> fallback) const {
  if (!has(key)) {
    if (fallback) return *fallback;
    refuse(key, "expected a positive whole number");
  }
  if (!json_[key].is_number_integer() || json_[key] < 1 || json_[key] > 16777216)
    refuse(key, "expected a positive whole number");
  return json_[key].get<int64_t>();
}

double HfConfig::number(const char* key, double fallback) const {
  if (!has(key)) return fallback;
  if (!json_[key].is_number() || json_[key] < 0) refuse(key, "expected a number from 0");
  return json_[key].get<double>();
}

bool HfConfig::flag(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!json_[key].is_boolean()) refuse(key, "expected true or false");
  return json_[key].get<bool>();
}

std::string HfConfig::text(const char* key, const std::string& fallback) const {
  if (!has(key)) return fallback;
  if (!json_[key].is_string()) refuse(key, "expected text");
  return json_[key].get<std::string>();
}

std::vector<std::string> HfConfig::words(const char* key) const {
  if (!has(key)) return {};
  std::vector<std::string> words;
  if (!json_[key].is_array()) refuse(key, "expected a list of words");
  for (const Json& word : json_[key]) {
    if (!word.is_string()) refuse(key, "expected a list of words");
    words.push_back(word.get<std::string>());
  }
  return words;
}

Activation HfConfig::activation(const char* key, const std::string& fallback) const {
  const std::string name = text(key, fallback);
  std::vector<std::string> supported;
  for (const auto& [known, activation] : kActivations) {
    if (name == known) return activation;
    supported.emplace_back(known);
  }
  refuse(key, fmt::format("that activation is not supported; supported are {}", join(supported, ", ")));
}

void HfConfig::require(const char* key, const Json& only) const {
  if (has(key) && json_[key] != only) refuse(key, fmt::format("only {} is supported", dump_json(only)));
}

HfConfig HfConfig::part(const char* key) const {
  if (!has(key)) return {Json::object(), where_ + ": " + key};
  if (!json_[key].is_object()) refuse(key, "expected an object");
  return {json_[key], where_ + ": " + key};
}

int64_t HfConfig::outputs() const {
  const int64_t outputs = stated_outputs(json_, where_).value_or(2);  // 2 in transformers too
  // transformers takes one output for regression where problem_type is absent.
  const std::string problem = text("problem_type", "");
  if (problem == "regression" && outputs != 1)
    refuse("problem_type", fmt::format("with {} outputs that is not supported, only with one", outputs));
  if (problem != "regression" && problem != "single_label_classification" && !problem.empty())
    refuse("problem_type", "supported are single_label_classification and regression");
  if (problem == "single_label_classification" && outputs == 1)
    refuse("problem_type", "with one output only regression is supported");
  return outputs;
}

void set_rotary(TransformerConfig& sizes, const HfConfig& config) {
  const bool newer = config.has("rope_parameters");
  const HfConfig rope = config.part(newer ? "rope_parameters" : "rope_scaling");
  sizes.positions = Positions::rotary;
  sizes.rope_theta = newer ? rope.number("rope_theta", 10000) : config.number("rope_theta", 10000);
  if (sizes.rope_theta <= 0) fail(ExitCode::run_failed, "{}: rope_theta is not positive", rope.where());
  config.require("partial_rotary_factor", 1.0);
  rope.require("partial_rotary_factor", 1.0);
  const std::string type = rope.text("rope_type", rope.text("type", "default"));
  if (type == "default") return;
  if (type != "linear" && type != "llama3")
    fail(ExitCode::run_failed, "{}: rope_type '{}' is not supported; supported are default, linear and llama3",
         rope.where(), type);
  sizes.rope_scaling = type == "linear" ? RotaryScaling::linear : RotaryScaling::llama3;
  sizes.rope_factor = rope.number("factor", 1);
  if (sizes.rope_factor < 1) fail(ExitCode::run_failed, "{}: factor is less than 1", rope.where());
  if (type == "linear") return;
  sizes.rope_low_frequency_factor = rope.number("low_freq_factor", 1);
  sizes.rope_high_frequency_factor = rope.number("high_freq_factor", 4);
  sizes.rope_original_length = rope.size("original_max_position_embeddings");
  if (sizes.rope_low_frequency_factor <= 0 || sizes.rope_high_frequency_factor <= sizes.rope_low_frequency_factor)
    fail(ExitCode::run_failed, "{}: low_freq_factor and high_freq_factor must be positive, the second larger",
         rope.where());
}

void set_head_widths(TransformerConfig& sizes, const HfConfig& config) {
  if (sizes.d_model % sizes.heads != 0)
    fail(ExitCode::run_failed, "{}: {} attention heads do not divide a model of width {}", config.where(), sizes.heads,
         sizes.d_model);
  sizes.d_key = sizes.d_value = sizes.d_model / sizes.heads;
}

}  // namespace headprune
