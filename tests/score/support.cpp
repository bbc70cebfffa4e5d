#include "score/support.h"

#include <algorithm>

#include "config/load.h"
#include "core/random.h"
#include "data/vocabulary.h"
#include "model/attention.h"

namespace headprune::test {

torch::Tensor LossTask::example_losses(const torch::Tensor& values, const Batch& batch) const {
  const torch::Tensor log_p = values.log_softmax(-1);
  if (kind_ == Kind::encoder) return -log_p.gather(1, batch.labels.unsqueeze(1)).squeeze(1);  // [B]
  const torch::Tensor wanted = batch.targets != kNoTarget;                                    // [B, T]
  const torch::Tensor picked = log_p.gather(2, batch.targets.clamp_min(0).unsqueeze(2)).squeeze(2);
  return -torch::where(wanted, picked, torch::zeros_like(picked)).sum(1) / wanted.sum(1);  // [B]
}

Outcomes LossTask::outcomes(const torch::Tensor& values, const Batch& batch) const {
  const torch::Tensor losses = example_losses(values, batch).to(torch::kFloat64);  // [B]
  Outcomes outcomes(static_cast<size_t>(batch.size()));
  for (int64_t i = 0; i < batch.size(); ++i) outcomes[static_cast<size_t>(i)].loss = losses[i].item<double>();
  return outcomes;
}

Subject make_subject(Kind kind, torch::ScalarType type, const HeadSet& gone, int64_t groups) {
  at::set_num_threads(1);  // for tensors this small, threads only wait for each other
  TransformerConfig config;
  config.architecture = kind == Kind::cross     ? Architecture::encoder_decoder
                        : kind == Kind::encoder ? Architecture::encoder
                                                : Architecture::decoder;
  if (kind == Kind::cross) config.decoder_layers = 2;
  config.d_model = 8;
  config.layers = 2;
  config.heads = groups > 0 ? 4 : 3;
  config.groups = groups;
  config.d_key = 3;
  config.d_value = 2;
  config.d_ff = 10;
  config.dropout = 0.5;  // would show if scoring did not switch it off
  config.pooling = Pooling::cls;
  config.tie_embeddings = false;
  config.vocabulary_size = 11;
  config.max_length = 8;
  config.outputs = kind == Kind::encoder ? 3 : 0;
  Subject subject{make_transformer(config), LossTask(kind), {}};
  Random random(7, "test");
  const torch::NoGradGuard guard;
  for (torch::Tensor& parameter : subject.model->parameters()) {
    for (int64_t i = 0; i < parameter.numel(); ++i) parameter.view({-1})[i] = 0.5 * random.normal();
  }
  subject.model->remove_heads(gone);
  subject.model->to(type);
  subject.model->train();
  const auto words = [&](int64_t count) {
    std::vector<int64_t> ids;
    for (int64_t t = 0; t < count; ++t) ids.push_back(4 + static_cast<int64_t>(random.below(7)));
    return ids;
  };
  for (const auto& [length, target_length] :
       std::vector<std::pair<int64_t, int64_t>>{{2, 2}, {6, 4}, {3, 3}, {5, 5}, {5, 2}, {4, 6}, {6, 4}}) {
    Example example;
    example.tokens.push_back(Vocabulary::kClassification);
    example.special.push_back(0);
    for (const int64_t word : words(length - 1)) example.tokens.push_back(word);
    if (kind == Kind::encoder) {
      example.label = static_cast<int64_t>(random.below(3));
    } else if (kind == Kind::decoder) {
      example.targets = words(length);
      example.targets.back() = kNoTarget;
    } else {
      example.decoder_tokens = words(target_length);
      example.targets = words(target_length);
    }
    subject.examples.push_back(example);
  }
  return subject;
}

size_t place_of(const Subject& subject, const BlockId& block) {
  const Blocks blocks = subject.model->blocks();
  const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const BlockHeads& one) { return one.id == block; });
  REQUIRE(at != blocks.end());
  return static_cast<size_t>(at - blocks.begin());
}

std::vector<Batch> batches_of(const std::vector<Example>& examples, int64_t batch_size, bool reverse) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < examples.size(); ++i) order.push_back(static_cast<int64_t>(i));
  if (reverse) std::reverse(order.begin(), order.end());
  std::vector<Batch> batches;
  for (size_t i = 0; i < order.size(); i += static_cast<size_t>(batch_size)) {
    const size_t end = std::min(order.size(), i + static_cast<size_t>(batch_size));
    const auto at = [&](size_t index) { return order.begin() + static_cast<std::ptrdiff_t>(index); };
    batches.push_back(make_batch(examples, std::vector<int64_t>(at(i), at(end)), torch::kCPU));
  }
  return batches;
}

namespace {

struct ScoreHolder {
  std::vector<PluginItem<ScoreMethod>> methods;
  template <class V>
  void fields(V& v) {
    v("methods", methods, "scores");
  }
};

}  // namespace

std::shared_ptr<const ScoreMethod> make_score(const std::string& yaml) {
  const auto loaded = load_config<ScoreHolder>(ConfigText{"test.yaml", "methods: [" + yaml + "]\n", "."});
  return loaded.value.methods.at(0).make();
}

Importance score(const std::string& yaml, const Subject& subject, const Scored& how) {
  const auto method = make_score(yaml);
  const std::vector<Batch> batches = batches_of(subject.examples, how.batch_size, how.reverse);
  const auto examples = static_cast<int64_t>(subject.examples.size());
  const ScoreInput input{*subject.model, subject.task, batches, examples, how.removed, /*seed=*/3};
  return importance({{method.get(), "tested", how.draw}}, input).at(0);
}

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      {"gradient_l1"},
      {"{gradient_l1: {absolute: token}}"},
      {"{gradient_l1: {absolute: token, normalize: none}}"},
      {"{gradient_l1: {absolute: batch}}", /*depends_on_batches=*/true},
      {"{gradient_l1: {absolute: signed, normalize: global_minmax}}"},
      {"{gradient_l1: {normalize: none}}"},
      {"{gradient_l1: {of: context}}"},
      {"{gradient_l1: {of: weights}}"},
      {"{gradient_l1: {preset: michel_code}}"},
      {"output_l2"},
      {"{output_l2: {relative: true}}"},
      {"{output_l2: {at: context, normalize: layer_l2}}"},
      {"{output_l2: {at: context, relative: true}}"},
      {"{output_l2: {positions: carrying}}"},
      {"entropy"},
      {"{entropy: {positions: carrying}}"},
      {"{entropy: {keep: diffuse, scale: nats}}"},
      {"{entropy: {skip_special: true}}"},
      {"fisher"},
      {"{fisher: {batches: 3, normalize: layer_l2}}"},
      {"confidence"},
      {"{confidence: {positions: carrying, unit: group}}"},
      {"first_token"},
      {"{first_token: {unit: group}}"},
      {"output_norm_ratio"},
      {"{output_norm_ratio: {positions: carrying, unit: group}}"},
      {"magnitude", false, /*looks_at_model=*/false},
      {"{magnitude: {norm: l1, parts: [v, o], unit: group}}", false, /*looks_at_model=*/false},
      {"ablation"},
      {"{ablation: {unit: group}}"},
      {"{shapley: {permutations: 3}}", false, true, /*draws_orders=*/true},
      {"{gradient_l1: {unit: group}}"},
      {"{output_l2: {unit: group}}"},
      {"{entropy: {unit: group}}"},
      {"redundancy"},
      {"{redundancy: {measure: cka, unit: group}}"},
      {"{redundancy: {measure: cosine, texts: 5, max_tokens: 4}}"},
      {"random", /*depends_on_batches=*/false, /*looks_at_model=*/false},
  };
  return all;
}

double relative_difference(const PerBlock& a, const PerBlock& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].sizes() == b[i].sizes());
    if (a[i].numel() == 0) continue;
    most = std::max(most, (a[i] - b[i]).abs().max().item<double>());
    scale = std::max(scale, b[i].abs().max().item<double>());
  }
  return scale > 0 ? most / scale : most;
}

double value_of(const Importance& importance, const Blocks& blocks, const HeadId& head) {
  for (size_t b = 0; b < blocks.size(); ++b)
    for (size_t h = 0; h < blocks[b].heads.size(); ++h)
      if (HeadId{blocks[b].id, blocks[b].heads[h]} == head)
        return importance.values[b][static_cast<int64_t>(h)].item<double>();
  throw std::logic_error("no such head");
}

}  // namespace headprune::test
