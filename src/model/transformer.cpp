#include "model/transformer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "model/checkpoint.h"
#include "model/hf_layout.h"

namespace headprune {
namespace {

LayerConfig layer_config(const TransformerConfig& config) {
  return {.d_model = config.d_model,
          .layout = {.heads = config.heads,
                     .groups = config.heads,
                     .key_width = config.d_key,
                     .value_width = config.d_value},
          .d_ff = config.d_ff,
          .activation = config.activation,
          .norm = config.norm,
          .layer_norm_eps = config.layer_norm_eps,
          .dropout = config.dropout};
}

EmbeddingConfig embedding_config(const TransformerConfig& config) {
  return {.vocabulary_size = config.vocabulary_size,
          .d_model = config.d_model,
          .positions = config.positions,
          .max_length = config.max_length,
          .position_offset = config.position_offset,
          .token_types = config.token_types};
}

bool has_output_layer(const TransformerConfig& config) {
  return config.kind == Kind::encoder || !config.tie_embeddings;
}

int64_t output_count(const TransformerConfig& config) {
  return config.kind == Kind::encoder ? config.outputs : config.vocabulary_size;
}

/// Gates may be absent for all blocks or for some.
torch::Tensor gates_of(const PerBlock& gates, size_t block) {
  return gates.empty() ? torch::Tensor() : gates.at(block);
}

/// Fills `parameter` in row-major order.
template <class Draw>
void fill(torch::Tensor& parameter, const Draw& draw) {
  torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat64);
  double* const data = values.mutable_data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  parameter.copy_(values);
}

}  // namespace

Blocks transformer_blocks(const TransformerConfig& config, const HeadSet& removed) {
  Blocks blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    BlockHeads& block = blocks.emplace_back(BlockHeads{.id = {config.kind, layer}, .heads = {}});
    for (int64_t head = 0; head < config.heads; ++head)
      if (!removed.contains({block.id, head})) block.heads.push_back(head);
  }
  return blocks;
}

int64_t parameter_count(const TransformerConfig& config) {
  const int64_t C = config.d_model, keys = config.heads * config.d_key, values = config.heads * config.d_value;
  const int64_t attention = 2 * keys * (C + 1) + values * (C + 1) + C * (values + 1);
  const int64_t feed_forward = config.d_ff * (C + 1) + C * (config.d_ff + 1);
  const int64_t learned = config.positions == Positions::learned ? config.position_offset + config.max_length : 0;
  const int64_t pooler = config.pooler != Pooler::none ? C * (C + 1) : 0;
  const int64_t head = has_output_layer(config) ? output_count(config) * (C + 1) : 0;
  const int64_t vectors = config.vocabulary_size + learned + config.token_types;
  return vectors * C + config.layers * (attention + feed_forward + 4 * C) + 2 * C + pooler + head;
}

Transformer::Transformer(const TransformerConfig& config, const HeadSet& removed)
    : config_(config),
      embeddings_(register_module("embeddings", std::make_shared<Embeddings>(embedding_config(config)))),
      norm_(register_module("norm", std::make_shared<LayerNorm>(config.d_model, config.layer_norm_eps))) {
  const auto stack = register_module("blocks", std::make_shared<torch::nn::Module>());
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks_.push_back(stack->register_module(std::to_string(layer), std::make_shared<Block>(layer_config(config))));
  if (config.pooler != Pooler::none)
    pooler_ = register_module("pooler", std::make_shared<Projection>(config.d_model, config.d_model));
  if (has_output_layer(config))
    head_ = register_module("head", std::make_shared<Projection>(config.d_model, output_count(config)));
  Transformer::remove_heads(removed);
}

Blocks Transformer::blocks() const {
  Blocks blocks;
  for (size_t layer = 0; layer < blocks_.size(); ++layer)
    blocks.push_back({{config_.kind, static_cast<int64_t>(layer)}, blocks_[layer]->attention().heads()});
  return blocks;
}

void Transformer::check_gates(const PerBlock& gates) const {
  TORCH_CHECK(gates.empty() || gates.size() == blocks_.size(), "gates for ", gates.size(), " of ", blocks_.size(),
              " blocks");
}

Visibility Transformer::visibility(const Batch& batch) const {
  return Visibility(config_.kind == Kind::decoder ? Pattern::causal : Pattern::full,
                    batch.padded ? batch.present : torch::Tensor());
}

bool Transformer::first_only(size_t block) const {
  return config_.kind == Kind::encoder && config_.pooling == Pooling::cls && block + 1 == blocks_.size();
}

torch::Tensor Transformer::embed(const Batch& batch) const {
  const torch::Tensor x = embeddings_->forward(batch.tokens, batch.token_types);  // [B, T, C]
  return at::dropout(config_.norm == NormOrder::post ? norm_->forward(x) : x, config_.dropout, is_training());
}

ModelOutput Transformer::forward(const Batch& batch, const HeadProbe& probe) {
  if (!probe.weights && !probe.contexts) return resume(batch, pause(batch, 0), probe.gates);
  ModelOutput result = encode(batch, probe);
  result.values = read_out(result.values, batch);
  return result;
}

ModelOutput Transformer::encode(const Batch& batch, const HeadProbe& probe) {
  check_gates(probe.gates);
  const Visibility visible = visibility(batch);
  torch::Tensor x = embed(batch);  // [B, T, C]
  ModelOutput result;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    BlockHalf half = blocks_[i]->attend(x, visible, probe.weights);
    if (probe.weights) result.heads.weights.push_back(half.heads.weights);
    if (probe.contexts) {
      torch::Tensor& context = half.heads.context;
      if (at::GradMode::is_enabled() && !context.requires_grad()) context.requires_grad_();
      result.heads.contexts.push_back(context);
    }
    x = blocks_[i]->finish(half, gates_of(probe.gates, i));  // [B, T, C]
  }
  result.values = config_.norm == NormOrder::pre ? norm_->forward(x) : x;  // [B, T, C]
  return result;
}

Paused Transformer::pause(const Batch& batch, size_t block, const Paused* before) {
  TORCH_CHECK(block < blocks_.size() && (!before || before->block < block), "no way to block ", block);
  const Visibility visible = visibility(batch);
  const auto half_of = [](const Paused& paused) { return BlockHalf{paused.residual, {paused.context, {}}}; };
  torch::Tensor x = before ? blocks_[before->block]->finish(half_of(*before), {}) : embed(batch);  // [B, T, C]
  for (size_t i = before ? before->block + 1 : 0; i < block; ++i)
    x = blocks_[i]->finish(blocks_[i]->attend(x, visible, false), {});  // [B, T, C]
  const BlockHalf half = blocks_[block]->attend(x, visible, false, first_only(block));
  return {.block = block, .residual = half.residual, .context = half.heads.context};
}

ModelOutput Transformer::resume(const Batch& batch, const Paused& paused, const PerBlock& gates) {
  check_gates(gates);
  const Visibility visible = visibility(batch);
  torch::Tensor x = blocks_.at(paused.block)
                        ->finish({paused.residual, {paused.context, {}}}, gates_of(gates, paused.block));  // [B, T, C]
  for (size_t i = paused.block + 1; i < blocks_.size(); ++i)
    x = blocks_[i]->finish(blocks_[i]->attend(x, visible, false, first_only(i)), gates_of(gates, i));  // [B, T, C]
  if (config_.norm == NormOrder::pre) x = norm_->forward(x);
  return {.values = read_out(x, batch), .heads = {}};
}

torch::Tensor Transformer::read_out(const torch::Tensor& states, const Batch& batch) const {
  if (config_.kind == Kind::decoder)
    return head_ ? head_->forward(states) : linear_layer(states, embeddings_->tokens(), {});  // [B, T, vocabulary]
  torch::Tensor pooled;
  if (config_.pooling == Pooling::cls) {
    pooled = states.select(1, 0);  // [B, C]
  } else if (!batch.padded) {
    pooled = states.mean(1);  // [B, C]
  } else {
    const torch::Tensor present = batch.present.unsqueeze(2).to(states.scalar_type());  // [B, T, 1]
    pooled = (states * present).sum(1) / present.sum(1);                                // [B, C]
  }
  if (pooler_) {
    pooled = pooler_->forward(pooled);  // [B, C]
    pooled = config_.pooler == Pooler::tanh ? pooled.tanh() : pooled.relu();
  }
  return head_->forward(at::dropout(pooled, config_.dropout, is_training()));  // [B, outputs]
}

void Transformer::remove_heads(const HeadSet& removed) {
  for (const BlockHeads& block : blocks())
    blocks_[static_cast<size_t>(block.id.layer)]->attention().remove_heads(removed.in_block(block.id));
}

Attention& Transformer::attention(size_t index) { return blocks_.at(index)->attention(); }

std::shared_ptr<Model> Transformer::copy() const {
  const auto twin = std::make_shared<Transformer>(config_, removed_heads());
  const auto from = parameters(), to = twin->parameters();
  for (size_t i = 0; i < from.size(); ++i) {
    torch::Tensor target = to[i];
    target.set_data(from[i].detach().clone());
    target.set_requires_grad(from[i].requires_grad());
  }
  twin->origin_ = origin_;
  twin->labels_ = labels_;
  twin->train(is_training());
  return twin;
}

Json Transformer::config() const {
  Json json = origin_ ? hf_config(*origin_, config_, removed_heads()) : config_to_json(config_, removed_heads());
  if (!labels_.empty()) {
    json["id2label"] = labels_json(labels_);
    if (origin_) {
      json["label2id"] = Json::object();
      for (size_t i = 0; i < labels_.size(); ++i) json["label2id"][labels_[i]] = i;
    }
  }
  return json;
}

NamedTensors Transformer::tensors() const {
  return origin_ ? to_hf_tensors(*origin_->layout, config_, state(*this)) : state(*this);
}

HeadSet Transformer::removed_heads() const {
  const Blocks present = blocks();
  HeadSet removed;
  for (const BlockHeads& block : transformer_blocks(config_)) {
    const auto& left = present[static_cast<size_t>(block.id.layer)].heads;
    for (const int64_t head : block.heads)
      if (!std::binary_search(left.begin(), left.end(), head)) removed.insert({block.id, head});
  }
  return removed;
}

std::optional<int64_t> Transformer::layers_above(const std::string& parameter) const {
  for (int64_t layer = 0; layer < config_.layers; ++layer)
    if (parameter.starts_with(fmt::format("blocks.{}.", layer))) return config_.layers - 1 - layer;
  const bool first = parameter.starts_with("embeddings.") ||
                     (parameter.starts_with("norm.") && config_.norm == NormOrder::post);  // after the embeddings
  return first ? config_.layers : 0;
}

int64_t Transformer::attention_flops_per_token(int64_t sequence_length) const {
  const int64_t width = config_.d_key + config_.d_value;
  int64_t heads = 0;
  for (const auto& block : blocks_) heads += block->attention().head_count();
  return heads * (2 * config_.d_model * 2 * width + 2 * sequence_length * width);
}

void initialise(Transformer& model, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (auto& entry : model.named_parameters()) {
    const std::string& name = entry.key();
    torch::Tensor& parameter = entry.value();
    if (name.find("norm.") != std::string::npos) {
      parameter.fill_(name.ends_with(".weight") ? 1.0 : 0.0);
    } else if (name.ends_with(".bias")) {
      parameter.zero_();
    } else {
      Random random(seed, "model/init/" + name);
      if (name.starts_with("embeddings.")) {
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
