#include "model/other_families.h"

#include <utility>

namespace headprune {
namespace {

// Of each the first thing that would make wrong numbers of its weights.
constexpr std::pair<const char*, const char*> kFamilies[] = {
    {"gemma", "it is close to llama, but its RMS norm multiplies by 1 + weight, and its token vectors by a constant"},
    {"gemma2", "it is close to llama, but caps its logits, and has norms before and after each part"},
    {"gemma3", "it is close to llama, but its RMS norm multiplies by 1 + weight, and its layers have two rotary bases"},
    {"gemma3_text",
     "it is close to llama, but its RMS norm multiplies by 1 + weight, and its layers have two rotary bases"},
    {"phi", "attention and feed-forward stand side by side in its layers, and it turns a part of each head alone"},
    {"phi3", "it is close to llama, but keeps queries, keys and values in one tensor, and gate and values in another"},
    {"gpt_neox", "attention and feed-forward stand side by side in its layers, and it turns a part of each head alone"},
    {"gptj", "attention and feed-forward stand side by side in its layers, and it turns a part of each head alone"},
    {"stablelm", "it is close to llama, but turns a part of each head alone"},
    {"smollm3", "it is close to llama, but every fourth of its layers has no rotary positions"},
    {"olmo2", "it is close to llama, but its norms stand behind each part"},
    {"mixtral", "its feed-forward layers are mixtures of experts"},
    {"qwen2_moe", "its feed-forward layers are mixtures of experts"},
    {"qwen3_moe", "its feed-forward layers are mixtures of experts"},
    {"olmoe", "its feed-forward layers are mixtures of experts"},
    {"deepseek_v2", "its keys and values are compressed (multi-head latent attention)"},
    {"deepseek_v3", "its keys and values are compressed (multi-head latent attention)"},
    {"bloom", "its positions are slopes added to attention (ALiBi)"},
    {"mpt", "its positions are slopes added to attention (ALiBi)"},
    {"falcon", "attention and feed-forward stand side by side in its layers"},
    {"t5", "its positions are biases added to attention, a table that all layers share"},
    {"albert", "all its layers are one"},
    {"deberta-v2", "its attention has terms of relative positions"},
};

}  // namespace

std::string what_differs(const std::string& model_type) {
  for (const auto& [name, difference] : kFamilies)
    if (model_type == name) return difference;
  return "";
}

}  // namespace headprune
