// What must hold for heads holds for every kind of positions with every pattern, in encoders, decoders and
// encoder-decoders.
#include "model/variants.h"

namespace headprune {

using namespace testing;

TEST_CASE("masked equals removed for each kind of positions and pattern", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    const torch::Tensor full = real_logits(*model, batch);
    check_masked_equals_removed(*model, batch, alternating(model->blocks()), full);
    // Step by step, by original ids.
    const auto pruned = model->copy();
    HeadSet removed;
    for (const HeadId& head : alternating(model->blocks()).heads()) {
      removed.insert(head);
      pruned->remove_heads(removed);
    }
    const PerBlock gates = mask_gates(model->blocks(), removed, torch::kCPU);
    CHECK(max_difference(real_logits(*model, batch, {.gates = gates}), real_logits(*pruned, batch)) < 1e-5);
  });
}

TEST_CASE("masked equals removed in groups that share keys and values, for each variant", "[model][variants][groups]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](TransformerConfig config) {
    config.groups = 2;
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    const torch::Tensor full = real_logits(*model, batch);
    check_masked_equals_removed(*model, batch, alternating(model->blocks()), full);
  });
}

TEST_CASE("the explicit path gives the numbers of the fused one, and weights sum to 1 where something is seen",
          "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    const HeadProbe probe{.gates = {}, .weights = true, .contexts = true};
    CHECK(max_difference(real_logits(*model, batch, probe), real_logits(*model, batch)) < 1e-5);
    for (const torch::Tensor& weights : model->forward(batch, probe).heads.weights) {
      const torch::Tensor sums = weights.sum(-1);
      CHECK(sums.eq(0).logical_or((sums - 1).abs() < 1e-5).all().item<bool>());
      CHECK(sums.ne(0).any().item<bool>());
    }
  });
}

TEST_CASE("logits do not depend on what else is in the batch, for each variant", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const auto alone = [&](bool beside) {
      if (!config.writes_from_source())
        return model->forward(beside ? batch_of({{2, 8, 3, 5}, {2, 9, 9, 9, 9, 9, 9, 9}}) : batch_of({{2, 8, 3, 5}}))
            .values[0];
      return model
          ->forward(beside ? translation_of({{2, 8, 3}, {2, 9, 9, 9, 9, 9}}, {{2, 5, 6, 7}, {2, 4, 4, 4, 4, 4}})
                           : translation_of({{2, 8, 3}}, {{2, 5, 6, 7}}))
          .values[0];
    };
    const torch::Tensor one = alone(false), two = alone(true);
    CHECK(max_difference(one, one.dim() == 1 ? two : two.narrow(0, 0, 4)) < 1e-5);
  });
}

TEST_CASE("a pass that pauses and goes on gives the same logits, for each variant", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    for (const size_t block : model->order()) {
      PerBlock gates(model->blocks().size());
      gates[block] = torch::tensor({0.0f, 1.0f, 0.5f, 0.0f});
      const torch::Tensor whole = model->forward(batch, {.gates = gates}).values;
      CHECK(max_difference(model->resume(batch, model->pause(batch, block), gates).values, whole) < 1e-6);
    }
  });
}

TEST_CASE("a text that is read in pieces gets the logits of whole passes, for each variant", "[writer][variants]") {
  const torch::NoGradGuard no_grad;
  const std::vector<std::vector<int64_t>> texts = {{2, 5, 7, 4, 9, 3, 8, 8}, {2, 8, 3, 5, 5}, {6, 10, 10, 3, 1, 7, 4}};
  for_each_variant([&](const TransformerConfig& config) {
    if (config.architecture == Architecture::encoder) return;
    const auto model = variant_model(config);
    const auto pruned = std::dynamic_pointer_cast<TransformerModel>(model->copy());
    pruned->remove_heads(alternating(model->blocks()));
    for (TransformerModel* one : {model.get(), pruned.get()}) {
      SequenceWriter& writer = *one->writer();
      if (config.writes_from_source()) {
        const Batch batch = translation_of({{5, 7, 4, 9, 3}, {8, 3}}, {{2, 4, 4, 9, 6}, {2, 10, 8, 7, 6}});
        const ModelOutput whole = one->forward(batch);
        WriterState state = writer.start(whole.memory, batch);
        for (int64_t t = 0; t < 5; ++t)
          CHECK(max_difference(writer.next(state, batch.decoder_tokens.narrow(1, t, 1)).values,
                               whole.values.select(1, t)) < 1e-5);
        continue;
      }
      // The last four tokens come in pieces of 1, 2 and 1; shorter texts have padding in front.
      std::vector<std::vector<int64_t>> starts;
      for (const auto& text : texts) starts.emplace_back(text.begin(), text.end() - 4);
      WriterState state = writer.start({}, batch_of(starts));
      int64_t read = 0;
      torch::Tensor logits = writer.next(state, texts_at_end(batch_of(starts))).values;
      for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{1}}) {
        if (size > 0) {
          torch::Tensor tokens = torch::empty({3, size}, torch::kInt64);
          for (size_t row = 0; row < texts.size(); ++row)
            for (int64_t t = 0; t < size; ++t)
              tokens[static_cast<int64_t>(row)][t] = texts[row][texts[row].size() - 4 + static_cast<size_t>(read + t)];
          logits = writer.next(state, tokens).values;
        }
        read += size;
        for (size_t row = 0; row < texts.size(); ++row)
          CHECK(max_difference(logits[static_cast<int64_t>(row)],
                               one->forward(batch_of({texts[row]})).values[0][std::ssize(texts[row]) - 5 + read]) <
                1e-5);
      }
    }
  });
}

TEST_CASE("gradients reach every parameter of each variant, and every gate", "[model][variants]") {
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    HeadProbe probe;
    for (const BlockHeads& block : model->blocks())
      probe.gates.push_back(torch::ones({block.count()}).requires_grad_());
    real_logits(*model, batch, probe).sin().sum().backward();
    for (const auto& entry : model->named_parameters()) {
      INFO(entry.key());
      CHECK((entry.value().grad().defined() && entry.value().grad().abs().max().item<double>() > 0));
    }
    for (const torch::Tensor& gates : probe.gates) CHECK(gates.grad().abs().min().item<double>() > 0);
  });
}

TEST_CASE("factors of products may be rounded in each variant, and a bias is not", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    const torch::Tensor exact = real_logits(*model, batch);
    model->use({.library = LinearLibrary::blas, .type = ComputeType::bfloat16});
    const torch::Tensor fused = real_logits(*model, batch);
    const torch::Tensor seen = real_logits(*model, batch, {.gates = {}, .weights = true});
    for (const torch::Tensor& rounded : {fused, seen}) {
      CHECK(max_difference(rounded, exact) > 0);
      CHECK(max_difference(rounded, exact) < 0.05 * exact.abs().max().item<double>());
    }
  });
}

}  // namespace headprune
