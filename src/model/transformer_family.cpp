#include "model/transformer_family.h"

#include "config/dump.h"
#include "core/error.h"
#include "model/blank.h"
#include "model/folder.h"
#include "model/grouping.h"

namespace headprune {
namespace {

/// The sizes of a folder, checked to be of this family.
ModelFolder folder_of(const std::filesystem::path& path, Architecture architecture) {
  ModelFolder folder = read_model_folder(path, enum_name(architecture));
  if (folder.origin || folder.config.architecture != architecture) {
    const std::string type = folder.origin ? folder.model_type() : enum_name(folder.config.architecture);
    fail(ExitCode::run_failed, "{} holds a model of type {}; load it with model.type: {}", path.string(), type, type);
  }
  return folder;
}

/// Options that were set to something that is neither the default nor what the folder has.
CrossProblems conflicts(const TransformerConfig& asked, const TransformerConfig& standard,
                        const TransformerConfig& saved) {
  const Json asked_json = config_json(asked), standard_json = config_json(standard), saved_json = config_json(saved);
  CrossProblems problems;
  for (const auto& [key, value] : asked_json.items())
    if (const Json there = saved_json.value(key, Json());
        key != "dropout" && value != standard_json.value(key, Json()) && value != there)
      problems.emplace_back(key, fmt::format("is {} but the model in `path` has {}; with init: load sizes come from "
                                             "the folder, leave this key out",
                                             dump_json(value), dump_json(there)));
  return problems;
}

}  // namespace

void TransformerOptions::hide_standard(FieldList& list) const {
  std::vector<std::string> standard;
  if (!groups) standard.emplace_back("groups");
  if (feed_forward == FeedForwardType::plain) standard.emplace_back("feed_forward");
  if (norm_type == NormType::layer) standard.emplace_back("norm_type");
  if (bias) standard.emplace_back("bias");
  if (positions != Positions::rotary) standard.emplace_back("rope_theta");
  list.hide(standard);
}

TransformerConfig TransformerOptions::config(Architecture architecture) const {
  TransformerConfig config;
  config.architecture = architecture;
  config.d_model = d_model;
  config.layers = layers;
  if (config.writes_from_source()) config.decoder_layers = decoder_layers.value_or(layers);
  config.heads = heads;
  if (groups && *groups != heads) config.groups = *groups;
  config.d_key = d_key.value_or(d_model / heads);
  config.d_value = d_value.value_or(d_model / heads);
  config.d_ff = d_ff.value_or(4 * d_model);
  config.feed_forward = feed_forward;
  config.activation = activation;
  config.norm = norm;
  config.norm_type = norm_type;
  config.layer_norm_eps = layer_norm_eps;
  config.attention_bias = config.attention_output_bias = config.feed_forward_bias = config.head_bias = bias;
  config.positions = positions;
  config.rope_theta = rope_theta;
  config.dropout = dropout;
  return config;
}

CrossProblems TransformerOptions::problems_of(const TransformerConfig& intact,
                                              const TransformerConfig& standard) const {
  if (init == ModelInit::train) {
    CrossProblems problems;
    if (path) problems.emplace_back("path", "is only used with init: load");
    if ((!d_key || !d_value) && d_model % heads != 0)
      problems.emplace_back("heads", fmt::format("d_model {} is not a multiple of heads {}; change one, or set d_key "
                                                 "and d_value",
                                                 d_model, heads));
    if (groups && heads % *groups != 0)
      problems.emplace_back("groups", fmt::format("{} does not divide {} heads", *groups, heads));
    if (positions == Positions::rotary && intact.writes_from_source())
      problems.emplace_back("positions", "rotary positions are for encoder and decoder");
    if (positions == Positions::rotary && intact.d_key % 2 != 0)
      problems.emplace_back("positions",
                            fmt::format("rotary positions turn pairs of numbers, and d_key is {}", intact.d_key));
    if (rope_theta != 10000 && positions != Positions::rotary)
      problems.emplace_back("rope_theta", "is only used with positions: rotary");
    return problems;
  }
  if (!path) return {{"path", "is needed with init: load: the folder of a saved model"}};
  if (!std::filesystem::is_directory(*path)) return {};  // reported by the field's own check
  try {
    TransformerConfig asked = intact, usual = standard;
    const TransformerConfig saved = folder_of(*path, intact.architecture).config;
    // Widths that nobody set follow from other sizes; only one that was set can conflict.
    if (!groups) asked.groups = saved.groups;
    if (!d_key) asked.d_key = saved.d_key;
    if (!d_value) asked.d_value = saved.d_value;
    if (!d_ff) asked.d_ff = saved.d_ff;
    if (!decoder_layers) asked.decoder_layers = saved.decoder_layers;
    // Data decides these.
    for (TransformerConfig* config : {&asked, &usual}) {
      config->vocabulary_size = saved.vocabulary_size;
      config->target_vocabulary_size = saved.target_vocabulary_size;
      config->max_length = saved.max_length;
      config->outputs = saved.outputs;
    }
    return conflicts(asked, usual, saved);
  } catch (const Error& error) {
    return {{"path", error.what()}};
  }
}

TransformerFamily::TransformerFamily(const TransformerOptions& options, const TransformerConfig& intact)
    : path_(options.init == ModelInit::load ? options.path : std::nullopt), config_(intact) {}

Blocks TransformerFamily::blocks() const {
  return path_ ? folder_of(*path_, config_.architecture).blocks() : transformer_blocks(config_);
}

int64_t TransformerFamily::parameter_estimate(const ModelInput& input) const {
  if (path_) return summarise_model_folder(*path_, enum_name(config_.architecture)).parameters;
  return intact_parameters(sizes_for(input));
}

TransformerConfig TransformerFamily::sizes_for(const ModelInput& input) const {
  TransformerConfig config = config_;
  config.vocabulary_size = input.vocabulary_size;
  config.target_vocabulary_size = input.target_vocabulary_size;
  config.max_length = input.max_length;
  config.outputs = input.outputs;
  return config;
}

ModelFolder TransformerFamily::folder() const {
  ModelFolder found = folder_of(*path_, config_.architecture);
  found.config.dropout = config_.dropout;
  return found;
}

ModelLabels TransformerFamily::labels() const {
  return path_ ? classifier_labels(folder_of(*path_, config_.architecture)) : ModelLabels();
}

std::string TransformerFamily::cannot_convert() const { return path_ ? lacks_heads(folder()) : ""; }

std::shared_ptr<TransformerModel> TransformerFamily::build(const ModelInput& input) const {
  if (path_) return build_loaded(folder(), input);
  const auto model = make_transformer(sizes_for(input));
  model->set_labels(input.labels);
  initialise(*model, input.seed);
  model->to(input.device);
  return model;
}

std::shared_ptr<TransformerModel> TransformerFamily::outline(const ModelInput& input) const {
  if (path_) return outline_loaded(folder(), input);
  const WithoutMemory outline;
  return make_transformer(sizes_for(input));
}

Json TransformerFamily::loaded_sizes() const { return path_ ? sizes_json(folder()) : Json(); }

}  // namespace headprune
