#include "model/transformer_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.h"
#include "model/blank.h"
#include "model/checkpoint.h"
#include "model/encoder_decoder_model.h"
#include "model/hf_layout.h"
#include "model/label_names.h"
#include "model/make_positions.h"
#include "model/transformer.h"

namespace headprune {
namespace {

/// Block indices in the order of a pass. A decoder's layer asks itself, then the encoder: blocks of the kinds
/// `decoder` and `cross`, listed one kind after the other, alternate.
std::vector<size_t> block_order(const TransformerConfig& config) {
  const auto first = static_cast<size_t>(config.layers), second = static_cast<size_t>(config.decoder_layers);
  std::vector<size_t> order(first);
  std::iota(order.begin(), order.end(), 0);
  if (!config.writes_from_source()) return order;
  for (size_t layer = 0; layer < second; ++layer)
    for (const size_t block : {first + layer, first + second + layer}) order.push_back(block);
  return order;
}

BlockHalf half_of(const Paused& paused) { return {paused.residual, {paused.context, {}}}; }

/// Fills `parameter` in row-major order.
template <class Draw>
void fill(torch::Tensor& parameter, const Draw& draw) {
  torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat64);
  double* const data = values.mutable_data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  parameter.copy_(values);
}

/// T5's table among them, whose numbers begin as small as those of token vectors (Raffel et al. 2020's code).
bool holds_vectors(const std::string& parameter) {
  return parameter.starts_with("embeddings.") || parameter.starts_with("target_embeddings.") ||
         parameter.ends_with("positions.table");
}

}  // namespace

std::shared_ptr<TransformerModel> make_transformer(const TransformerConfig& config, const HeadSet& removed) {
  if (config.writes_from_source()) return std::make_shared<EncoderDecoder>(config, removed);
  return std::make_shared<Transformer>(config, removed);
}

int64_t intact_parameters(const TransformerConfig& config) {
  const WithoutMemory outline;
  return parameter_count(*make_transformer(config));
}

TransformerModel::TransformerModel(const TransformerConfig& config) : config_(config), order_(block_order(config)) {}

size_t TransformerModel::place_of(size_t block) const {
  const auto at = std::find(order_.begin(), order_.end(), block);
  TORCH_CHECK(at != order_.end(), "a model of ", order_.size(), " blocks has no block ", block);
  return static_cast<size_t>(at - order_.begin());
}

void TransformerModel::check_gates(const PerBlock& gates) const {
  TORCH_CHECK(gates.empty() || gates.size() == order_.size(), "gates for ", gates.size(), " of ", order_.size(),
              " blocks");
}

int64_t TransformerModel::longest_text() const {
  return config_.positions == Positions::learned ? config_.max_length : std::numeric_limits<int64_t>::max();
}

ModelOutput TransformerModel::forward(const Batch& batch, const HeadProbe& probe) {
  if (!probe.weights && !probe.contexts && !probe.see) return resume(batch, pause(batch, order_.front()), probe.gates);
  ModelOutput result;
  const Stream stream = trace(batch, probe, result.heads);
  result.values = read_out(stream, batch);
  result.memory = stream.memory;
  return result;
}

TransformerModel::Stream TransformerModel::trace(const Batch& batch, const HeadProbe& probe, HeadTrace& seen) {
  check_gates(probe.gates);
  if (probe.weights) seen.weights.resize(order_.size());
  if (probe.contexts) seen.contexts.resize(order_.size());
  Stream stream = begin(batch);
  for (const size_t block : order_) {
    const bool weights = probe.weights || probe.see;
    BlockHalf half = attend(block, stream, batch, {.weights = weights, .everywhere = true});
    if (probe.see) probe.see(block, half.heads);
    if (probe.weights) seen.weights[block] = half.heads.weights;
    half.heads.weights.reset();  // the feed-forward layer needs the memory
    if (probe.contexts) {
      torch::Tensor& context = half.heads.context;
      if (at::GradMode::is_enabled() && !context.requires_grad()) context.requires_grad_();
      seen.contexts[block] = context;
    }
    finish(block, half, gates_of(probe.gates, block), batch, stream);
  }
  return stream;
}

Paused TransformerModel::pause(const Batch& batch, size_t block, const Paused* before) {
  const size_t last = place_of(block);
  size_t next = 0;
  Stream stream;
  if (before) {
    TORCH_CHECK(place_of(before->block) < last, "no way to block ", block);
    stream.memory = before->memory;
    finish(before->block, half_of(*before), {}, batch, stream);
    next = place_of(before->block) + 1;
  } else {
    stream = begin(batch);
  }
  for (; next < last; ++next) finish(order_[next], attend(order_[next], stream, batch, {}), {}, batch, stream);
  const BlockHalf half = attend(block, stream, batch, {});
  return {.block = block, .residual = half.residual, .context = half.heads.context, .memory = stream.memory};
}

ModelOutput TransformerModel::resume(const Batch& batch, const Paused& paused, const PerBlock& gates) {
  check_gates(gates);
  Stream stream{.x = {}, .memory = paused.memory};
  finish(paused.block, half_of(paused), gates_of(gates, paused.block), batch, stream);
  for (size_t next = place_of(paused.block) + 1; next < order_.size(); ++next) {
    const size_t block = order_[next];
    finish(block, attend(block, stream, batch, {}), gates_of(gates, block), batch, stream);
  }
  return {.values = read_out(stream, batch), .memory = stream.memory, .heads = {}};
}

void TransformerModel::remove_heads(const HeadSet& removed) {
  const Blocks present = blocks();
  for (size_t i = 0; i < present.size(); ++i) attention(i).remove_heads(removed.in_block(present[i].id));
}

std::shared_ptr<TransformerModel> TransformerModel::clone() const {
  const auto twin = make_transformer(config_, removed_heads());
  const auto from = parameters(), to = twin->parameters();
  for (size_t i = 0; i < from.size(); ++i) {
    torch::Tensor target = to[i];
    target.set_data(from[i].detach().clone());
    target.set_requires_grad(from[i].requires_grad());
  }
  const auto constants = buffers(), copies = twin->buffers();
  for (size_t i = 0; i < constants.size(); ++i) torch::Tensor(copies[i]).set_data(constants[i].detach().clone());
  twin->take_circumstances(*this);
  return twin;
}

void TransformerModel::take_circumstances(const TransformerModel& other) {
  use(other.products());
  origin_ = other.origin_;
  labels_ = other.labels_;
  train(other.is_training());
}

std::filesystem::path TransformerModel::source_folder() const {
  return origin_ ? origin_->folder : std::filesystem::path();
}

Json TransformerModel::config() const {
  Json json = origin_ ? hf_config(*origin_, config_, removed_heads()) : config_to_json(config_, removed_heads());
  // What a folder of another tool says of its labels stays as it is spelled there, unless they are others now.
  if (labels_.empty() || (origin_ && labels_ == labels_from_json(origin_->config, "config.json"))) return json;
  json["id2label"] = id2label_json(labels_);
  if (origin_) json["label2id"] = label2id_json(labels_);
  return json;
}

NamedTensors TransformerModel::tensors() const {
  return origin_ ? to_hf_tensors(*origin_->layout, config_, state(*this)) : state(*this);
}

HeadSet TransformerModel::removed_heads() const {
  const Blocks present = blocks(), intact = transformer_blocks(config_);
  HeadSet removed;
  for (size_t i = 0; i < intact.size(); ++i)
    for (const int64_t head : intact[i].heads)
      if (!std::binary_search(present[i].heads.begin(), present[i].heads.end(), head))
        removed.insert({intact[i].id, head});
  return removed;
}

std::shared_ptr<AttentionPositions> TransformerModel::stack_positions(Kind kind) const {
  return own_positions(config_.positions) ? nullptr : make_attention_positions(config_, kind);
}

LayerConfig TransformerModel::layer_config(const BlockId& block,
                                           const std::shared_ptr<AttentionPositions>& positions) const {
  const bool own = own_positions(config_.positions);
  LayerConfig one{.attention = {.d_model = config_.d_model,
                                .layout = config_.layout(),
                                .dropout = config_.dropout,
                                .bias = config_.attention_bias,
                                .output_bias = config_.attention_output_bias,
                                .positions = own ? make_attention_positions(config_, block.kind) : positions,
                                .own_positions = own,
                                .products = products_},
                  .feed_forward = {.d_model = config_.d_model,
                                   .d_ff = config_.d_ff,
                                   .type = config_.feed_forward,
                                   .activation = config_.activation,
                                   .bias = config_.feed_forward_bias,
                                   .products = products_},
                  .norm = norm_config(),
                  .order = config_.norm,
                  .dropout = config_.dropout,
                  .pattern = pattern_of(block)};
  if (config_.head_norm) one.attention.head_norm = norm_config();
  return one;
}

std::shared_ptr<const Pattern> TransformerModel::pattern_of(const BlockId& block) const {
  if (block.kind == Kind::cross) return full_pattern();
  return make_pattern(config_.pattern_of_layer(block.layer),
                      {.causal = block.kind == Kind::decoder, .heads = config_.heads});
}

EmbeddingConfig TransformerModel::embedding_config(int64_t vocabulary_size) const {
  return {.vocabulary_size = vocabulary_size,
          .d_model = config_.d_model,
          .positions = config_.positions,
          .max_length = config_.max_length,
          .position_offset = config_.position_offset,
          .token_types = config_.token_types,
          .uncounted_token = config_.uncounted_token,
          .scale = config_.scale_embeddings};
}

void initialise(TransformerModel& model, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (auto& entry : model.named_parameters()) {
    const std::string& name = entry.key();
    torch::Tensor& parameter = entry.value();
    if (name.find("norm.") != std::string::npos) {
      parameter.fill_(name.ends_with(".weight") ? 1.0 : 0.0);
    } else if (name.ends_with("bias")) {
      parameter.zero_();
    } else {
      Random random(seed, "model/init/" + name);
      if (holds_vectors(name)) {
        const double deviation = 1.0 / std::sqrt(static_cast<double>(model.sizes().d_model));
        fill(parameter, [&] { return deviation * random.normal(); });
      } else {
        const double limit = std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
        fill(parameter, [&] { return limit * (2.0 * random.uniform() - 1.0); });
      }
    }
  }
}

}  // namespace headprune
