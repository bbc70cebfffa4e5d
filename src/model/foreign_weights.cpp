#include "model/foreign_weights.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "core/error.h"
#include "core/files.h"

namespace headprune {

namespace {

enum class FileKind { pickle, ctranslate2, gguf, tensorflow, flax, onnx, other };

std::string beginning(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(64, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

bool is_pickle_name(const fs::path& path) {
  const std::string ending = path.extension().string(), name = path.filename().string();
  return ending == ".pt" || ending == ".pth" || ending == ".ckpt" ||
         (ending == ".bin" && name.starts_with("pytorch_model"));
}

/// Of a file whose name says that it holds weights.
FileKind kind_of(const fs::path& path) {
  const std::string bytes = beginning(path), ending = path.extension().string();
  if (bytes.starts_with("GGUF") || ending == ".gguf") return FileKind::gguf;
  if (ending == ".h5") return FileKind::tensorflow;
  if (ending == ".msgpack") return FileKind::flax;
  if (ending == ".onnx") return FileKind::onnx;
  // Pickles of torch: an archive, or the old form, which begins with its protocol.
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\x80\x02") || is_pickle_name(path)) return FileKind::pickle;
  // CTranslate2: a version number, the length of a name, and that name: "TransformerSpec".
  if (bytes.find("Spec") != std::string::npos) return FileKind::ctranslate2;
  return FileKind::other;
}

/// Every tensor gets memory of its own: safetensors does not write tensors that share it, as tied ones do.
std::string conversion(const fs::path& path) {
  const bool usual = path.filename().string().starts_with("pytorch_model");
  return fmt::format(
      "python3 -c \"import glob, torch, safetensors.torch as s; d = {{}}; "
      "[d.update((lambda t: t.get('state_dict', t))(torch.load(f, map_location='cpu', weights_only=True))) for f in "
      "sorted(glob.glob('{}'))]; s.save_file({{k: v.clone().contiguous() for k, v in d.items()}}, 'model.safetensors', "
      "metadata={{'format': 'pt'}})\"",
      usual ? "pytorch_model*.bin" : path.filename().string());
}

std::string sentence(const fs::path& path) {
  const std::string name = path.filename().string();
  switch (kind_of(path)) {
    case FileKind::pickle:
      return fmt::format(
          "{} is a pickle file, which is never loaded because it can run code; convert it where you trust it, in that "
          "folder: {}",
          name, conversion(path));
    case FileKind::ctranslate2:
      return fmt::format(
          "{} is a model of CTranslate2, converted for inference; give the folder that it was converted from", name);
    case FileKind::gguf:
      return fmt::format("{} is a GGUF file of llama.cpp; give the folder that it was converted from", name);
    case FileKind::tensorflow:
      return fmt::format(
          "{} holds TensorFlow's weights; load it in transformers with from_tf=True and save it with "
          "save_pretrained",
          name);
    case FileKind::flax:
      return fmt::format(
          "{} holds Flax's weights; load it in transformers with from_flax=True and save it with "
          "save_pretrained",
          name);
    case FileKind::onnx:
      return fmt::format("{} is an ONNX file; give the folder that it was exported from", name);
    default:
      return fmt::format(
          "{} is no file of safetensors, and not one of the other kinds that are known here; give the "
          "folder of a saved model",
          name);
  }
}

/// Files of weights come before others of the same ending: training_args.bin is a pickle too.
int rank(const fs::path& path) {
  const std::string name = path.filename().string();
  if (is_pickle_name(path)) return 0;
  return name.starts_with("model") || name.starts_with("tf_model") || name.starts_with("flax_model") ? 1 : 2;
}

}  // namespace

void refuse_quantised(const Json& config, const std::string& where) {
  if (!config.is_object() || !config.contains("quantization_config") || config["quantization_config"].is_null()) return;
  const Json& how = config["quantization_config"];
  const std::string method = how.is_object() ? member_text(how, "quant_method") : std::string("unknown");
  fail(
      ExitCode::run_failed,
      "{}: quantization_config says that the weights are quantised (quant_method {}), which is not supported; give the "
      "folder that they were made from, with weights in float32, float16 or bfloat16",
      where, method);
}

std::vector<std::string> quantised_tensors(const std::vector<std::pair<std::string, bool>>& floating) {
  constexpr const char* kEndings[] = {".SCB",    ".qweight",   ".qzeros",        ".g_idx",         ".weight_scale",
                                      ".absmax", ".quant_map", ".weight_format", ".weight_packed", ".weight_scale_inv"};
  std::vector<std::string> found;
  for (const auto& [name, is_floating] : floating) {
    const bool ending = std::any_of(std::begin(kEndings), std::end(kEndings),
                                    [&, text = name](const char* end) { return text.ends_with(end); });
    if (ending || name.find(".quant_state.") != std::string::npos || (!is_floating && name.ends_with(".weight")))
      found.push_back(name);
  }
  return found;
}

std::string foreign_weights(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_weight_file(entry.path())) files.push_back(entry.path());
  if (files.empty()) return "model.safetensors is missing; give the folder of a saved model";
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
  return sentence(files.front());
}

bool is_weight_file(const fs::path& path) {
  static const std::set<std::string> kEndings = {".safetensors", ".bin",  ".pt",   ".pth", ".ckpt", ".h5",
                                                 ".msgpack",     ".onnx", ".gguf", ".ot",  ".npz",  ".tflite"};
  const std::string name = path.filename().string();
  if (name == "training_args.bin") return false;  // Trainer's options
  return kEndings.contains(path.extension().string()) || name.ends_with(".safetensors.index.json") ||
         name.ends_with(".bin.index.json") || name.find(".ckpt.") != std::string::npos ||
         name.ends_with(".onnx_data") || name.ends_with(".onnx.data");
}

}  // namespace headprune
