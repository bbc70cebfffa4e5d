#include "model/checkpoint.h"

#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace headprune {
namespace {

constexpr std::pair<Dtype, at::ScalarType> kTypes[] = {
    {Dtype::U64, at::kUInt64}, {Dtype::I64, at::kLong},   {Dtype::F64, at::kDouble}, {Dtype::C64, at::kComplexFloat},
    {Dtype::F32, at::kFloat},  {Dtype::U32, at::kUInt32}, {Dtype::I32, at::kInt},    {Dtype::BF16, at::kBFloat16},
    {Dtype::F16, at::kHalf},   {Dtype::U16, at::kUInt16}, {Dtype::I16, at::kShort},  {Dtype::I8, at::kChar},
    {Dtype::U8, at::kByte},    {Dtype::BOOL, at::kBool},
};

Dtype dtype_of(at::ScalarType type) {
  for (const auto& [dtype, scalar] : kTypes)
    if (scalar == type) return dtype;
  TORCH_CHECK(false, "no safetensors dtype for ", type);
}

at::ScalarType scalar_of(Dtype dtype) {
  for (const auto& [known, scalar] : kTypes)
    if (known == dtype) return scalar;
  TORCH_CHECK(false, "no torch type for ", to_string(dtype));
}

/// In parts: isfinite() makes tensors as large as what it looks at.
bool all_finite(const torch::Tensor& tensor) {
  constexpr int64_t kAtOnce = 1 << 20;
  const torch::Tensor flat = tensor.flatten();
  for (int64_t begin = 0; begin < flat.numel(); begin += kAtOnce)
    if (!flat.narrow(0, begin, std::min(kAtOnce, flat.numel() - begin)).isfinite().all().item<bool>()) return false;
  return true;
}

std::string shape_text(const torch::Tensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")); }

}  // namespace

TensorBytes to_bytes(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().cpu().contiguous();
  TensorBytes result{.name = name, .dtype = dtype_of(plain.scalar_type()), .shape = plain.sizes().vec(), .bytes = {}};
  if (plain.numel() > 0) result.bytes.assign(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  return result;
}

NamedTensors read_tensors(const std::filesystem::path& file) {
  NamedTensors tensors;
  // Straight into their place: a large model has room for its weights once.
  read_safetensors(file, [&](const TensorInfo& info) {
    const torch::Tensor& tensor = tensors[info.name] = torch::empty(info.shape, scalar_of(info.dtype));
    TORCH_CHECK(tensor.nbytes() == info.end - info.begin, info.name, ": the bytes do not fit the shape");
    return tensor.numel() > 0 ? static_cast<char*>(tensor.mutable_data_ptr()) : nullptr;
  });
  return tensors;
}

NamedTensors read_outlines(const std::filesystem::path& file) {
  NamedTensors tensors;
  for (const TensorInfo& tensor : read_safetensors_header(file).tensors)
    tensors[tensor.name] =
        torch::empty(tensor.shape, torch::TensorOptions(scalar_of(tensor.dtype)).device(torch::kMeta));
  return tensors;
}

std::string tensors_file(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  std::vector<TensorBytes> bytes;
  for (const auto& [name, tensor] : tensors) bytes.push_back(to_bytes(name, tensor));
  return safetensors_bytes(std::move(bytes), metadata);
}

NamedTensors state(const Model& model) {
  NamedTensors tensors;
  for (const auto& entry : model.named_parameters()) tensors[entry.key()] = entry.value();
  for (const auto& entry : model.named_buffers()) tensors[entry.key()] = entry.value();
  return tensors;
}

void copy_equal_shapes(const Model& from, const Model& to) {
  const NamedTensors sources = state(from), targets = state(to);
  for (const auto& [name, tensor] : targets) {
    torch::Tensor target = tensor;
    if (sources.at(name).sizes() == target.sizes()) target.copy_(sources.at(name));
  }
}

std::vector<std::string> tensor_problems(const NamedTensors& wanted, const NamedTensors& found) {
  std::vector<std::string> problems;
  for (const auto& [name, target] : wanted) {
    const auto at = found.find(name);
    if (at == found.end()) {
      problems.push_back(fmt::format("{} {} is missing", name, shape_text(target)));
    } else if (at->second.sizes() != target.sizes()) {
      problems.push_back(fmt::format("{} is {} and should be {}", name, shape_text(at->second), shape_text(target)));
    } else if (at->second.is_floating_point() != target.is_floating_point()) {
      problems.push_back(fmt::format("{} holds {} numbers", name, to_string(dtype_of(at->second.scalar_type()))));
    }
  }
  for (const auto& [name, tensor] : found)
    if (!wanted.contains(name)) problems.push_back(fmt::format("{} {} is unexpected", name, shape_text(tensor)));
  return problems;
}

void check_state(const Model& model, const NamedTensors& tensors, const std::string& where) {
  if (const auto problems = tensor_problems(state(model), tensors); !problems.empty())
    fail(ExitCode::run_failed, "{}: the tensors do not fit the model's config.json: {}", where,
         join_some(problems, "; ", 5));
}

void require_finite(const NamedTensors& tensors, const std::string& where) {
  for (const auto& [name, tensor] : tensors)
    if (tensor.is_floating_point() && !all_finite(tensor))
      fail(ExitCode::run_failed,
           "{}: tensor {} holds values that are not finite; the training that wrote it has diverged, or the file is "
           "damaged: take an earlier checkpoint",
           where, name);
}

void take_state(Model& model, NamedTensors tensors, const std::string& where) {
  check_state(model, tensors, where);
  const torch::NoGradGuard no_grad;
  for (auto& [name, target] : state(model)) {
    const torch::Tensor source = std::move(tensors.extract(name).mapped());
    torch::Tensor place = target;
    const bool fits = source.scalar_type() == place.scalar_type() && source.device() == place.device() &&
                      source.is_contiguous() && source.nbytes() == source.storage().nbytes();
    if (fits)
      place.set_data(source);
    else
      place.copy_(source);
  }
}

void load_state(Model& model, const NamedTensors& tensors, const std::string& where) {
  check_state(model, tensors, where);
  NamedTensors targets = state(model);
  const torch::NoGradGuard no_grad;
  for (auto& [name, target] : targets) {
    const torch::Tensor& source = tensors.at(name);
    target.copy_(source);
  }
}

void write_model(FolderWriter& folder, const Model& model, const Tokenizer* tokenizer,
                 const std::map<std::string, std::string>& metadata) {
  folder.write("config.json", dump_json_file(model.config()));
  folder.write("model.safetensors", tensors_file(model.tensors(), metadata));
  if (tokenizer != nullptr) tokenizer->write(folder);
}

}  // namespace headprune
