#include "model/hf_layout.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "model/checkpoint.h"

namespace headprune {
namespace {

using Layouts = std::map<std::string, std::shared_ptr<const HfLayout>>;

Layouts& layouts() {
  static Layouts all;
  return all;
}

/// Parts side by side along the output axis, then turned for Conv1D: the tensor as its file has it.
torch::Tensor joined(const HfTensor& tensor, const NamedTensors& ours) {
  std::vector<torch::Tensor> parts;
  for (const std::string& part : tensor.parts) parts.push_back(ours.at(part).detach());
  const torch::Tensor whole = parts.size() == 1 ? parts.front() : at::cat(parts);
  if (tensor.row) return whole.unsqueeze(0);  // [1, n]
  return tensor.conv1d && whole.dim() == 2 ? whole.t().contiguous() : whole;
}

/// The reverse, in the sizes of `ours`.
void split(const HfTensor& tensor, const torch::Tensor& found, const NamedTensors& ours, NamedTensors& result) {
  const torch::Tensor whole = tensor.row                          ? found.squeeze(0)  // [n]
                              : tensor.conv1d && found.dim() == 2 ? found.t()
                                                                  : found;
  int64_t begin = 0;
  for (const std::string& part : tensor.parts) {
    const int64_t rows = ours.at(part).size(0);
    result[part] = whole.narrow(0, begin, rows);
    begin += rows;
  }
}

/// Names as the layout lists them: no prefix, today's spelling of layer normalization, nothing that is left out.
NamedTensors plain_names(const HfLayout& layout, const NamedTensors& file, const std::string& where) {
  NamedTensors plain;
  std::vector<std::string> left_out;
  for (const auto& [name, tensor] : file) {
    std::string shorter = name;
    for (const std::string& prefix : {layout.prefix(), std::string("model.")})
      if (shorter == name && name.starts_with(prefix)) shorter = name.substr(prefix.size());
    for (const auto& [old, today] : {std::pair("LayerNorm.gamma", "weight"), std::pair("LayerNorm.beta", "bias")})
      if (shorter.ends_with(old)) shorter = shorter.substr(0, shorter.rfind('.') + 1) + today;
    if (layout.left_out(shorter)) {
      left_out.push_back(name);
    } else if (!plain.emplace(shorter, tensor).second) {
      fail(ExitCode::run_failed, "{}: tensor {} is there with and without its prefix", where, shorter);
    }
  }
  if (!left_out.empty())
    log_info("[model] {}: not part of a {}, left out: {}", where, layout.architecture(), join(left_out, ", "));
  return plain;
}

}  // namespace

RegisterLayout::RegisterLayout(std::shared_ptr<const HfLayout> layout) { layouts()[layout->model_type()] = layout; }

std::shared_ptr<const HfLayout> find_layout(const std::string& model_type) {
  const auto at = layouts().find(model_type);
  return at == layouts().end() ? nullptr : at->second;
}

std::vector<std::string> layout_names() {
  std::vector<std::string> names;
  for (const auto& entry : layouts()) names.push_back(entry.first);
  return names;
}

Json hf_config(const HfOrigin& origin, const TransformerConfig& sizes, const HeadSet& removed) {
  Json json = origin.config;
  json["architectures"] = {origin.layout->architecture()};
  json.erase("pruned_heads");
  json.erase("headprune");
  for (const char* key : {"torch_dtype", "dtype"})
    if (json.contains(key)) json[key] = "float32";
  if (removed.empty()) return json;
  // transformers prunes heads of models with one attention kind only.
  if (!sizes.writes_from_source()) json["pruned_heads"] = removed.to_json().front();
  json["headprune"] = removal_json(sizes, removed);
  return json;
}

NamedTensors to_hf_tensors(const HfLayout& layout, const TransformerConfig& sizes, const NamedTensors& ours) {
  NamedTensors file;
  for (const HfTensor& tensor : layout.tensors(sizes))
    file[(tensor.prefixed ? layout.prefix() : "") + tensor.name] = joined(tensor, ours);
  return file;
}

NamedTensors from_hf_tensors(const HfLayout& layout, const TransformerModel& model, const NamedTensors& file,
                             const HfReading& reading) {
  const NamedTensors ours = state(model);
  const std::vector<HfTensor> tensors = layout.tensors(model.sizes());
  NamedTensors found = plain_names(layout, file, reading.where), wanted;
  std::vector<std::string> initialised;
  for (const HfTensor& tensor : tensors) {
    wanted[tensor.name] = joined(tensor, ours);
    if (!tensor.task_head) continue;
    const auto at = found.find(tensor.name);
    const bool outputs = tensor.parts.front().starts_with("head.");  // their number may be another one
    if (at != found.end() && !(reading.new_task_head && outputs && at->second.sizes() != wanted[tensor.name].sizes()))
      continue;
    if (!reading.new_task_head)
      fail(ExitCode::run_failed,
           "{}: {} is missing: the folder has no task head ({}); add a train section, which starts one, or give a "
           "model that was fine-tuned",
           reading.where, tensor.name, layout.architecture());
    initialised.push_back(tensor.name);
    found[tensor.name] = wanted[tensor.name];
  }
  if (const auto problems = tensor_problems(wanted, found); !problems.empty())
    fail(ExitCode::run_failed, "{}: the tensors do not fit config.json: {}", reading.where, join(problems, "; "));
  if (!initialised.empty())
    log_info("[model] {}: no task head for these data there; initialised: {}", reading.where, join(initialised, ", "));
  NamedTensors result;
  for (const HfTensor& tensor : tensors) split(tensor, found.at(tensor.name), ours, result);
  return result;
}

}  // namespace headprune
