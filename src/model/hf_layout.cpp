#include "model/hf_layout.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "model/checkpoint.h"
#include "model/foreign_weights.h"
#include "model/hf_names.h"

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

/// True where a tensor has no values to compare: one of an outline.
bool same_values(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return false;
  return a.is_meta() || b.is_meta() || torch::equal(a.to(torch::kFloat32), b.to(torch::kFloat32));
}

/// Says which of a file's tensors are not read, or are read for others.
void say_names(const HfLayout& layout, const HfNames& names, const NamedTensors& file, const std::string& where) {
  constexpr size_t kListed = 5;
  if (!names.prefix.empty())
    log_info(
        "[model] {}: the names of all tensors begin with '{}', as DataParallel and others save them; read without it",
        where, names.prefix);
  if (!names.left_out.empty())
    log_info("[model] {}: not part of a {}, left out: {}", where, layout.architecture(),
             join_some(names.left_out, ", ", kListed));
  if (!names.other.empty())
    log_warn("[model] {}: not part of a {}, not read: {}", where, layout.architecture(),
             join_some(names.other, ", ", kListed));
  for (const auto& [name, copy] : names.copies)
    log_info("[model] {}: {} is missing; {}, which is tied to it, is read", where, name, copy);
  for (const auto& [name, copy] : names.tied)
    if (!same_values(file.at(names.files.at(name)), file.at(copy)))
      log_warn("[model] {}: {} is not the same as {}, to which it is tied; the latter is read, as in transformers",
               where, copy, names.files.at(name));
}

void refuse_quantised_tensors(const NamedTensors& file, const std::string& where) {
  std::vector<std::pair<std::string, bool>> floating;
  for (const auto& [name, tensor] : file) floating.emplace_back(name, tensor.is_floating_point());
  if (const auto found = quantised_tensors(floating); !found.empty())
    fail(ExitCode::run_failed,
         "{}: the weights are quantised, which is not supported ({}); give the folder that they were made from, with "
         "weights in float32, float16 or bfloat16",
         where, join_some(found, ", ", 5));
}

}  // namespace

void add_layout(std::shared_ptr<const HfLayout> layout) { layouts()[layout->model_type()] = layout; }

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
  // Of a model in other groups than the one that was loaded (grouping.h).
  const Json heads = origin.layout->head_keys(sizes.layout());
  if (!heads.is_null() && sizes.layout().groups != origin.layout->sizes({origin.config, "config.json"}).layout().groups)
    json.update(heads);
  if (removed.empty()) return json;
  if (origin.layout->prunes_elsewhere()) json["pruned_heads"] = removed.to_json().front();
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
  refuse_quantised_tensors(file, reading.where);
  std::vector<std::string> in_file;
  for (const auto& entry : file) in_file.push_back(entry.first);
  const HfNames names = find_names(layout, model.sizes(), in_file, reading.where);
  say_names(layout, names, file, reading.where);
  NamedTensors found, wanted;
  for (const auto& [name, theirs] : names.files) found[name] = file.at(theirs);
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
    fail(ExitCode::run_failed, "{}: the tensors do not fit config.json: {}", reading.where,
         join_some(problems, "; ", 5));
  if (!initialised.empty())
    log_info("[model] {}: no task head for these data there; initialised: {}", reading.where,
             join_some(initialised, ", ", 5));
  NamedTensors result;
  for (const HfTensor& tensor : tensors) split(tensor, found.at(tensor.name), ours, result);
  return result;
}

}  // namespace headprune
