#include "model/transformer_config.h"

#include <algorithm>

#include "config/dump.h"
#include "core/error.h"
#include "core/text.h"
#include "model/hf_layout.h"
#include "model/json_reader.h"
#include "model/other_families.h"

namespace headprune {
namespace {

/// Attention modules of one kind.
struct KindLayers {
  Kind kind;
  int64_t layers;
};

std::vector<KindLayers> kind_layers(const TransformerConfig& config) {
  if (config.writes_from_source())
    return {
        {Kind::encoder, config.layers}, {Kind::decoder, config.decoder_layers}, {Kind::cross, config.decoder_layers}};
  return {{config.architecture == Architecture::encoder ? Kind::encoder : Kind::decoder, config.layers}};
}

/// Patterns as config.json has them: of all layers, or of each.
void read_patterns(const Json& json, const std::string& where, TransformerConfig& config) {
  if (!json.contains("attention")) return;
  const Json& patterns = json["attention"];
  const auto layers = static_cast<size_t>(config.layers);
  const bool even = !config.writes_from_source() || config.decoder_layers == config.layers;
  if (!patterns.is_array() || (patterns.size() != 1 && (patterns.size() != layers || !even)))
    fail(ExitCode::run_failed,
         "{}: attention is no list of one pattern, or of one for each layer; the file is damaged or was written by "
         "another version",
         where);
  for (const Json& one : patterns) config.patterns.push_back(pattern_from_json(one, where));
}

}  // namespace

std::string model_type(Architecture architecture) { return std::string("headprune_") + enum_name(architecture); }

Blocks transformer_blocks(const TransformerConfig& config, const HeadSet& removed) {
  Blocks blocks;
  for (const auto& [kind, layers] : kind_layers(config)) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      BlockHeads& block = blocks.emplace_back(
          BlockHeads{.id = {kind, layer}, .heads = {}, .heads_per_group = config.layout().heads_per_group()});
      for (int64_t head = 0; head < config.heads; ++head)
        if (!removed.contains({block.id, head})) block.heads.push_back(head);
    }
  }
  return blocks;
}

int64_t output_layer_size(const TransformerConfig& config) {
  if (config.architecture == Architecture::encoder) return config.outputs;
  return config.tie_embeddings ? 0 : config.written_tokens();
}

Json config_to_json(const TransformerConfig& config, const HeadSet& removed) {
  Json json = {{"model_type", model_type(config.architecture)},
               {"architectures", {config.writes_from_source() ? "EncoderDecoder" : "Transformer"}}};
  const Json sizes = config_json(config);
  json.update(sizes);
  if (!config.patterns.empty()) json["attention"] = patterns_json(config);
  if (!removed.empty()) json["headprune"] = removal_json(config, removed);
  return json;
}

Json patterns_json(const TransformerConfig& config) {
  Json patterns = Json::array();
  for (const PatternOptions& one : config.patterns) patterns.push_back(pattern_json(one));
  return patterns;
}

Json removal_json(const TransformerConfig& config, const HeadSet& removed) {
  Json counts = Json::object();
  for (const BlockHeads& block : transformer_blocks(config, removed))
    counts[to_string(block.id.kind)].push_back(block.heads.size());
  return {{"removed", removed.to_json()}, {"heads", counts}};
}

std::string model_type_of(const Json& json) {
  const bool has = json.is_object() && json.contains("model_type") && json["model_type"].is_string();
  return has ? json["model_type"].get<std::string>() : "";
}

TransformerConfig config_from_json(const Json& json, const std::string& where) {
  const std::string type = model_type_of(json);
  TransformerConfig config;
  std::vector<std::string> supported;
  for (const auto& [name, architecture] : EnumNames<Architecture>::names) {
    supported.push_back(model_type(architecture));
    if (type == supported.back()) {
      config.architecture = architecture;
      JsonReader reader(json, where);
      config.fields(reader);
      read_patterns(json, where, config);
      return config;
    }
  }
  for (const std::string& name : layout_names()) supported.push_back(name);
  if (type.empty())
    fail(ExitCode::run_failed,
         "{}: model_type '' is not supported; add it, or load the folder with model.type; supported are {}", where,
         join(supported, ", "));
  const std::string differs = what_differs(type);
  fail(ExitCode::run_failed, "{}: model_type '{}' is not supported{}; supported are {}", where, type,
       differs.empty() ? "" : fmt::format(" ({})", differs), join(supported, ", "));
}

HeadSet removed_from_json(const Json& json, const TransformerConfig& config, const std::string& where) {
  // Another tool that removed heads says only which.
  const bool ours = json.contains("headprune");
  if (!ours && (!json.contains("pruned_heads") || json["pruned_heads"].empty())) return {};
  const Json part = ours ? json["headprune"]
                         : Json{{"removed", {{to_string(kind_layers(config).front().kind), json["pruned_heads"]}}}};
  const char* key = ours ? "headprune.removed" : "pruned_heads";
  if (!part.is_object() || !part.contains("removed"))
    fail(ExitCode::run_failed, "{}: headprune has no 'removed'; the file is damaged", where);
  HeadSet removed;
  try {
    removed = HeadSet::from_json(part["removed"]);
  } catch (const Error& error) {
    fail(ExitCode::run_failed, "{}: {}: {}", where, key, error.what());
  }
  const std::vector<HeadId> intact = all_heads(transformer_blocks(config));
  for (const HeadId& head : removed.heads())
    if (!std::binary_search(intact.begin(), intact.end(), head))
      fail(ExitCode::run_failed, "{}: {} names {}, which a model of {} layers with {} heads never had", where, key,
           to_string(head), config.layers, config.heads);
  if (!ours || removed.empty()) return removed;
  if (const Json heads = removal_json(config, removed)["heads"]; !part.contains("heads") || part["heads"] != heads)
    fail(ExitCode::run_failed, "{}: headprune.heads does not fit headprune.removed; it should be {}", where,
         dump_json(heads));
  return removed;
}

}  // namespace headprune
