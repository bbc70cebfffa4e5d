// What must hold (docs/definitions.md "What must hold") of a model with three kinds of attention.
#include "model/checkpoint.h"
#include "model/cost.h"
#include "model/encoder_decoder_model.h"
#include "model/folder.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

std::vector<TransformerConfig> configurations() {
  std::vector<TransformerConfig> all;
  for (const NormOrder norm : {NormOrder::pre, NormOrder::post})
    for (const bool joint : {true, false}) all.push_back(small_translator(norm, joint));
  all.back().positions = Positions::sinusoidal_halves;
  all.back().scale_embeddings = false;
  all.back().logits_bias = true;
  all.back().activation = Activation::silu;
  return all;
}

HeadSet whole(const Blocks& blocks, std::initializer_list<BlockId> ids) {
  HeadSet set;
  for (const BlockHeads& block : blocks)
    if (std::find(ids.begin(), ids.end(), block.id) != ids.end())
      for (const int64_t head : block.heads) set.insert({block.id, head});
  return set;
}

HeadSet of_kind(const Blocks& blocks, Kind kind) {
  HeadSet set;
  for (const HeadId& head : all_heads(blocks))
    if (head.block.kind == kind) set.insert(head);
  return set;
}

/// Sets of each kind alone and of all together, with whole blocks and kinds among them.
std::vector<HeadSet> head_sets(const Blocks& blocks) {
  std::vector<HeadSet> sets;
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross}) {
    sets.push_back(HeadSet({HeadId{{kind, 1}, 0}}));
    sets.push_back(HeadSet({HeadId{{kind, 0}, 2}, HeadId{{kind, 1}, 0}, HeadId{{kind, 1}, 1}}));
    sets.push_back(whole(blocks, {{kind, 0}}));
    sets.push_back(of_kind(blocks, kind));
  }
  sets.push_back(HeadSet({HeadId{{Kind::encoder, 0}, 1}, HeadId{{Kind::decoder, 2}, 0}, HeadId{{Kind::cross, 1}, 2}}));
  sets.push_back(whole(blocks, {{Kind::encoder, 1}, {Kind::decoder, 0}, {Kind::cross, 2}}));
  sets.emplace_back(all_heads(blocks));
  return sets;
}

TEST_CASE("the blocks of three kinds are listed kind by kind and met in another order", "[translation]") {
  const auto model = small_translator_model(small_translator(NormOrder::pre, true));
  std::vector<std::string> names;
  for (const BlockHeads& block : model->blocks()) names.push_back(to_string(block.id));
  CHECK(names == std::vector<std::string>{"encoder.L0", "encoder.L1", "decoder.L0", "decoder.L1", "decoder.L2",
                                          "cross.L0", "cross.L1", "cross.L2"});
  CHECK(model->order() == std::vector<size_t>{0, 1, 2, 5, 3, 6, 4, 7});
}

TEST_CASE("masked equals removed for each kind alone and together, with whole blocks gone", "[translation]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_translation();
  for (const TransformerConfig& config : configurations()) {
    const auto intact = small_translator_model(config);
    const torch::Tensor full = real_logits(*intact, batch);
    for (const HeadSet& removed : head_sets(intact->blocks())) {
      INFO(removed.to_json().dump());
      check_masked_equals_removed(*intact, batch, removed, full);
    }
  }
}

TEST_CASE("a pass that pauses in any block of three kinds and goes on gives the same logits", "[translation]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_translation();
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    const std::vector<size_t> order = model->order();
    for (size_t place = 0; place < order.size(); ++place) {
      HeadSet removed;
      for (size_t later = place; later < order.size(); ++later) removed.insert({model->blocks()[order[later]].id, 1});
      const PerBlock gates = mask_gates(model->blocks(), removed, torch::kCPU);
      const torch::Tensor expected = model->forward(batch, {.gates = gates}).values;
      const Paused direct = model->pause(batch, order[place]);
      CHECK(torch::equal(model->resume(batch, direct, gates).values, expected));
      for (size_t before = 0; before < place; ++before) {
        const Paused earlier = model->pause(batch, order[before]);
        const Paused later = model->pause(batch, order[place], &earlier);
        CHECK(torch::equal(model->resume(batch, later, gates).values, expected));
      }
    }
  }
}

TEST_CASE("the explicit path, which shows weights, gives the numbers of the fused one", "[translation]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_translation();
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    const ModelOutput seen = model->forward(batch, {.gates = {}, .weights = true, .contexts = true});
    CHECK(max_difference(seen.values.index({batch.decoder_present}), real_logits(*model, batch)) < 1e-5);
    const Blocks blocks = model->blocks();
    for (size_t b = 0; b < blocks.size(); ++b) {
      INFO(to_string(blocks[b].id));
      const bool asks_source = blocks[b].id.kind == Kind::encoder, sees_source = blocks[b].id.kind != Kind::decoder;
      CHECK(seen.heads.weights[b].sizes() == torch::IntArrayRef({3, 3, asks_source ? 5 : 6, sees_source ? 5 : 6}));
      CHECK(seen.heads.contexts[b].sizes() == torch::IntArrayRef({3, 3, asks_source ? 5 : 6, 2}));
      // Rows of real queries sum to 1 over the keys that are there.
      const torch::Tensor queries = (asks_source ? batch.present : batch.decoder_present).unsqueeze(1);
      const torch::Tensor rows = seen.heads.weights[b].sum(-1);
      CHECK((rows - 1).masked_select(queries.expand_as(rows)).abs().max().item<double>() < 1e-5);
      if (!sees_source) continue;
      const torch::Tensor hidden = batch.present.logical_not().unsqueeze(1).unsqueeze(1);
      CHECK(seen.heads.weights[b].masked_select(hidden.expand_as(seen.heads.weights[b])).abs().max().item<double>() ==
            0);
    }
  }
}

TEST_CASE("a translation's logits do not depend on what else is in the batch, nor on later tokens", "[translation]") {
  const torch::NoGradGuard no_grad;
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    const torch::Tensor alone = model->forward(translation_of({{8, 3}}, {{2, 10, 8}})).values[0];
    const torch::Tensor beside =
        model->forward(translation_of({{8, 3}, {5, 7, 4, 9, 3}}, {{2, 10, 8}, {2, 4, 4, 9, 7}}))
            .values[0]
            .narrow(0, 0, 3);
    CHECK(max_difference(alone, beside) < 1e-5);
    const torch::Tensor other = model->forward(translation_of({{8, 3}}, {{2, 10, 5}})).values[0];
    CHECK(max_difference(alone.narrow(0, 0, 2), other.narrow(0, 0, 2)) < 1e-6);
    CHECK(max_difference(alone, other) > 1e-3);
    const torch::Tensor source = model->forward(translation_of({{4, 3}}, {{2, 10, 8}})).values[0];
    CHECK(max_difference(alone.narrow(0, 0, 1), source.narrow(0, 0, 1)) > 1e-3);
  }
}

TEST_CASE("parameters and attention FLOPs of a translation model are what is counted by hand", "[translation]") {
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    CHECK(intact_parameters(config) == parameter_count(*model));
    // 24 heads, each 2 C (2 Dk + 2 Dv) for its projections and 2 S (Dk + Dv) for its products: those of the decoder's
    // self-attention with the target's tokens, all others with the source's.
    int64_t decoder = 0;
    for (const BlockHeads& block : model->blocks()) decoder += block.id.kind == Kind::decoder ? block.count() : 0;
    CHECK(model_cost(*model, {}, {10, 6}).attention_flops_per_token ==
          24 * 2 * 12 * (10 + 4) + 2 * 7 * ((24 - decoder) * 10 + decoder * 6));
    for (const HeadSet& removed : head_sets(model->blocks())) {
      const ModelCost cost = model_cost(*model, removed, {10, 6});
      const auto pruned = model->copy();
      pruned->remove_heads(removed);
      CHECK(cost.params == parameter_count(*pruned));
      CHECK(cost.attention_flops_per_token == model_cost(*pruned, {}, {10, 6}).attention_flops_per_token);
    }
  }
}

TEST_CASE("a translation model is saved and read back without heads of three kinds", "[translation]") {
  const torch::NoGradGuard no_grad;
  const Batch batch = small_translation();
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    if (config.logits_bias) state(*model).at("logits_bias").normal_();
    for (const HeadSet& removed : head_sets(model->blocks())) {
      const auto pruned = model->copy();
      pruned->remove_heads(removed);
      const TestFolder folder;
      FolderWriter writer(folder / "model");
      write_model(writer, *pruned, nullptr, {});
      writer.commit();
      const ModelFolder read = read_model_folder(folder / "model");
      CHECK(read.config == config);
      CHECK(read.removed == removed);
      CHECK(read.model_type() == "headprune_encoder_decoder");
      CHECK(torch::equal(real_logits(*load_model(read, torch::kCPU), batch), real_logits(*pruned, batch)));
    }
  }
}

TEST_CASE("an encoder's parameters stand below those of its decoder", "[translation]") {
  const auto model = small_translator_model(small_translator(NormOrder::pre, false));
  for (const auto& [name, above] :
       std::vector<std::pair<std::string, int64_t>>{{"embeddings.tokens", 5},
                                                    {"encoder.0.attention.query.weight", 4},
                                                    {"encoder.1.feed_forward.up.bias", 3},
                                                    {"norm.weight", 3},
                                                    {"target_embeddings.tokens", 3},
                                                    {"decoder.0.attention.key.weight", 2},
                                                    {"decoder.2.cross_attention.key.bias", 0},
                                                    {"decoder_norm.weight", 0},
                                                    {"head.weight", 0}}) {
    INFO(name);
    CHECK(state(*model).contains(name));
    CHECK(model->layers_above(name) == above);
  }
}

TEST_CASE("gradients reach every parameter of a translation model, and every gate", "[translation]") {
  for (const TransformerConfig& config : configurations()) {
    const auto model = small_translator_model(config);
    const Batch batch = small_translation();
    HeadProbe probe;
    for (const BlockHeads& block : model->blocks())
      probe.gates.push_back(torch::ones({batch.size(), block.count()}).requires_grad_());
    const torch::Tensor values = model->forward(batch, probe).values;
    at::cross_entropy_loss(values.flatten(0, 1), batch.targets.flatten(), {}, at::Reduction::Sum, kNoTarget).backward();
    for (const auto& entry : model->named_parameters()) {
      INFO(entry.key());
      REQUIRE(entry.value().grad().defined());
      // A constant added to every key moves no softmax.
      CHECK((entry.value().grad().abs().max().item<double>() > 1e-5) == !entry.key().ends_with("key.bias"));
    }
    for (const torch::Tensor& gates : probe.gates) CHECK(gates.grad().abs().min().item<double>() > 0);
  }
}

}  // namespace
}  // namespace headprune
