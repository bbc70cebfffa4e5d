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
  const TransformerOptions usual;
  if (rope_pairs == usual.rope_pairs) standard.emplace_back("rope_pairs");
  if (rope_fraction == usual.rope_fraction) standard.emplace_back("rope_fraction");
  if (positions != Positions::t5 && t5_buckets == usual.t5_buckets) standard.emplace_back("t5_buckets");
  if (positions != Positions::t5 && t5_max_distance == usual.t5_max_distance) standard.emplace_back("t5_max_distance");
  if (positions != Positions::shaw && shaw_max_distance == usual.shaw_max_distance)
    standard.emplace_back("shaw_max_distance");
  if (positions != Positions::shaw && shaw_values == usual.shaw_values) standard.emplace_back("shaw_values");
  if (attention.empty()) standard.emplace_back("attention");
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
  config.rope_pairs = rope_pairs;
  config.rope_fraction = rope_fraction;
  config.t5_buckets = t5_buckets;
  config.t5_max_distance = t5_max_distance;
  config.shaw_max_distance = shaw_max_distance;
  config.shaw_values = shaw_values;
  config.patterns = pattern_options(attention);
  config.dropout = dropout;
  return config;
}

void TransformerOptions::add_position_problems(const TransformerConfig& intact, CrossProblems& problems) const {
  const TransformerOptions usual;
  const auto only_with = [&](const char* key, bool is_set, Positions kind) {
    if (is_set && positions != kind)
      problems.emplace_back(key, fmt::format("is only used with positions: {}", enum_name(kind)));
  };
  only_with("rope_theta", rope_theta != usual.rope_theta, Positions::rotary);
  only_with("rope_pairs", rope_pairs != usual.rope_pairs, Positions::rotary);
  only_with("rope_fraction", rope_fraction != usual.rope_fraction, Positions::rotary);
  only_with("t5_buckets", t5_buckets != usual.t5_buckets, Positions::t5);
  only_with("t5_max_distance", t5_max_distance != usual.t5_max_distance, Positions::t5);
  only_with("shaw_max_distance", shaw_max_distance != usual.shaw_max_distance, Positions::shaw);
  only_with("shaw_values", shaw_values != usual.shaw_values, Positions::shaw);
  if (const int64_t turned = intact.rope_width(); positions == Positions::rotary && (turned < 2 || turned % 2 != 0))
    problems.emplace_back(
        rope_fraction == 1 ? "positions" : "rope_fraction",
        fmt::format("rotary positions turn pairs of numbers, and {}",
                    rope_fraction == 1 ? fmt::format("d_key is {}", intact.d_key)
                                       : fmt::format("this share of d_key {} is {}", intact.d_key, turned)));
  if (positions != Positions::t5) return;
  const bool both_sides = intact.architecture != Architecture::decoder;
  const int64_t exact = t5_buckets / (both_sides ? 4 : 2);
  if (t5_buckets % (both_sides ? 4 : 2) != 0)
    problems.emplace_back("t5_buckets",
                          both_sides ? fmt::format("{} is no multiple of 4: an encoder has half of them for "
                                                   "each side, and half of those for one distance each",
                                                   t5_buckets)
                                     : fmt::format("{} is odd: half of them are for one distance each", t5_buckets));
  else if (t5_max_distance <= exact)
    problems.emplace_back("t5_max_distance",
                          fmt::format("{} leaves no room behind the {} distances that have a bucket of their own",
                                      t5_max_distance, exact));
}

void TransformerOptions::add_pattern_problems(const TransformerConfig& intact, CrossProblems& problems) const {
  const int64_t count = std::ssize(attention);
  if (count < 2) return;
  if (count != intact.layers)
    problems.emplace_back("attention", fmt::format("has {} patterns and the model {} layers; give one for all, or one "
                                                   "for each",
                                                   count, intact.layers));
  else if (intact.writes_from_source() && intact.decoder_layers != count)
    problems.emplace_back(
        "attention", fmt::format("has {} patterns for {} layers of the encoder and {} of the decoder; give one for "
                                 "all, or both as many layers",
                                 count, intact.layers, intact.decoder_layers));
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
    add_position_problems(intact, problems);
    add_pattern_problems(intact, problems);
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
    CrossProblems problems = conflicts(asked, usual, saved);
    if (!asked.patterns.empty() && asked.patterns != saved.patterns)
      problems.emplace_back("attention",
                            fmt::format("is {} but the model in `path` has {}; with init: load patterns come from the "
                                        "folder, leave this key out",
                                        dump_json(patterns_json(asked)),
                                        saved.patterns.empty() ? "full" : dump_json(patterns_json(saved))));
    return problems;
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
