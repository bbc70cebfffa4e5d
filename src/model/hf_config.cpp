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

void set_head_widths(TransformerConfig& sizes, const HfConfig& config) {
  if (sizes.d_model % sizes.heads != 0)
    fail(ExitCode::run_failed, "{}: {} attention heads do not divide a model of width {}", config.where(), sizes.heads,
         sizes.d_model);
  sizes.d_key = sizes.d_value = sizes.d_model / sizes.heads;
}

}  // namespace headprune
