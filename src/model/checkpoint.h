// Model folders: config.json, model.safetensors, vocabulary.json, manifest.json (docs/formats.md sections 5 and 6).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/safetensors.h"
#include "core/torch.h"
#include "data/tokenizer.h"
#include "model/model.h"

namespace headprune {

/// A tensor of any device as the bytes of core/safetensors.h.
TensorBytes to_bytes(const std::string& name, const torch::Tensor& tensor);
/// On the CPU.
NamedTensors read_tensors(const std::filesystem::path& file);
/// The same from the header alone: tensors without memory.
NamedTensors read_outlines(const std::filesystem::path& file);
std::string tensors_file(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata);

/// Parameters and buffers by name, on their device, sharing memory.
NamedTensors state(const Model& model);
/// Copies tensors of one shape in both; those of attention differ where heads went, or share keys and values.
void copy_equal_shapes(const Model& from, const Model& to);
/// What keeps `found` from being copied into tensors of the names and shapes of `wanted`, one sentence part each.
std::vector<std::string> tensor_problems(const NamedTensors& wanted, const NamedTensors& found);
/// Throws Error(run_failed) naming a tensor with a value that is not finite. Attention hides it: a head of NaN comes
/// out as 0, and what follows is a plausible number.
void require_finite(const NamedTensors& tensors, const std::string& where);
/// Throws Error(run_failed) listing names and shapes where `tensors` are not those of the model.
void check_state(const Model& model, const NamedTensors& tensors, const std::string& where);
/// Values for the model, of tensors that nobody else has: those in its own type become the model's, the others are
/// copied, one after the other. Errors as load_state().
void take_state(Model& model, NamedTensors tensors, const std::string& where);
/// Copies values into the model. Missing, unexpected or misshapen tensors: Error(run_failed) listing names and shapes.
void load_state(Model& model, const NamedTensors& tensors, const std::string& where);

/// Writes config.json, model.safetensors and, when given, the tokenizer's files into `folder` (not committed).
void write_model(FolderWriter& folder, const Model& model, const Tokenizer* tokenizer,
                 const std::map<std::string, std::string>& metadata);
}  // namespace headprune
