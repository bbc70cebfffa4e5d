// Reading a text in pieces, with keys and values kept, gives the numbers of whole passes.
#include "model/writer.h"

#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

/// Decoders with every kind of position, grouped heads, windows and both norm orders.
std::vector<TransformerConfig> decoders() {
  std::vector<TransformerConfig> all(6, small_config(Kind::decoder));
  all[1].norm = NormOrder::post;
  all[1].positions = Positions::sinusoidal;
  all[2].positions = Positions::none;
  all[3].position_offset = 2;
  all[3].window = 3;
  for (const size_t i : {size_t{4}, size_t{5}}) {
    all[i].positions = Positions::rotary;
    all[i].d_key = 6;
    all[i].heads = 6;
    all[i].groups = 3;
    all[i].head_norm = true;
    all[i].norm_type = NormType::rms;
    all[i].feed_forward = FeedForwardType::gated;
  }
  all[5].window = 3;
  all[5].sliding_layers = {false, true, true};
  return all;
}

/// One head, two uneven groups, a whole block.
std::vector<HeadSet> removed_sets(const Blocks& blocks) {
  std::vector<HeadSet> sets = {
      {}, head_set(Kind::decoder, {{0, 1}}), head_set(Kind::decoder, {{0, 0}, {1, 1}, {2, 2}})};
  HeadSet block = sets.back();
  for (const int64_t head : blocks[1].heads) block.insert({blocks[1].id, head});
  sets.push_back(block);
  return sets;
}

const std::vector<std::vector<int64_t>> kTexts = {{2, 5, 7, 4, 9, 3, 8, 8}, {2, 8, 3, 5, 5}, {6, 10, 10, 3, 1, 7, 4}};

/// The first so many tokens of each text; the same number of each follows.
Batch beginnings(int64_t rest) {
  std::vector<std::vector<int64_t>> rows;
  for (const auto& text : kTexts) rows.emplace_back(text.begin(), text.end() - rest);
  return batch_of(rows);
}

torch::Tensor ends(int64_t rest, int64_t from, int64_t count) {
  torch::Tensor tokens = torch::empty({3, count}, torch::kInt64);
  for (size_t row = 0; row < kTexts.size(); ++row)
    for (int64_t t = 0; t < count; ++t)
      tokens[static_cast<int64_t>(row)][t] = kTexts[row][kTexts[row].size() - static_cast<size_t>(rest - from - t)];
  return tokens;
}

/// A whole pass over each text alone.
std::vector<ModelOutput> whole_passes(Model& model, const HeadProbe& probe) {
  std::vector<ModelOutput> all;
  for (const auto& text : kTexts) all.push_back(model.forward(batch_of({text}), probe));
  return all;
}

struct Pieces {
  std::vector<int64_t> sizes;  // of what is read after the beginnings
  int64_t rest() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }
};

/// Largest difference, at the last position of every piece and in every row, from whole passes.
double pieces_difference(Transformer& model, const PerBlock& gates, const Pieces& pieces) {
  const std::vector<ModelOutput> expected = whole_passes(model, {.gates = gates});
  WriterState state = model.start({}, beginnings(pieces.rest()));
  double most = 0;
  int64_t read = 0;
  const auto compare = [&](const torch::Tensor& logits) {
    for (size_t row = 0; row < kTexts.size(); ++row) {
      const int64_t at = std::ssize(kTexts[row]) - pieces.rest() + read - 1;
      most = std::max(most, max_difference(logits[static_cast<int64_t>(row)], expected[row].values[0][at]));
    }
  };
  compare(model.next(state, texts_at_end(beginnings(pieces.rest())), {.gates = gates}).values);
  for (const int64_t size : pieces.sizes) {
    const torch::Tensor tokens = ends(pieces.rest(), read, size);
    read += size;
    compare(model.next(state, tokens, {.gates = gates}).values);
  }
  return most;
}

}  // namespace

TEST_CASE("a text that is read in pieces gets the logits of whole passes, beside longer and shorter ones", "[writer]") {
  for (const TransformerConfig& config : decoders()) {
    const auto intact = small_model(config);
    for (const HeadSet& removed : removed_sets(intact->blocks())) {
      INFO(config_to_json(config, removed).dump());
      const auto pruned = std::dynamic_pointer_cast<Transformer>(intact->copy());
      pruned->remove_heads(removed);
      const PerBlock gates = mask_gates(intact->blocks(), removed, torch::kCPU);
      for (const Pieces& pieces : {Pieces{{1, 1, 1, 1}}, Pieces{{3, 1}}, Pieces{{2, 2}}}) {
        CHECK(pieces_difference(*intact, gates, pieces) < 1e-5);
        CHECK(pieces_difference(*pruned, {}, pieces) < 1e-5);
      }
    }
  }
}

TEST_CASE("weights and contexts of a step are those of its last position in a whole pass", "[writer]") {
  for (const TransformerConfig& config : decoders()) {
    const auto model = small_model(config);
    const PerBlock gates = mask_gates(model->blocks(), head_set(Kind::decoder, {{0, 1}, {2, 0}}), torch::kCPU);
    const HeadProbe probe{.gates = gates, .weights = true, .contexts = true};
    const std::vector<ModelOutput> expected = whole_passes(*model, probe);
    WriterState state = model->start({}, beginnings(3));
    torch::Tensor tokens = texts_at_end(beginnings(3));
    for (int64_t read = 0; read < 3; ++read) {
      const ModelOutput found = model->next(state, tokens, probe);
      for (size_t b = 0; b < model->blocks().size(); ++b)
        for (int64_t row = 0; row < 3; ++row) {
          const int64_t at = std::ssize(kTexts[static_cast<size_t>(row)]) - 3 + read - 1,
                        padding = state.length - at - 1;
          const HeadTrace& all = expected[static_cast<size_t>(row)].heads;
          const torch::Tensor weights = found.heads.weights[b][row];  // [H, 1, S]
          REQUIRE(found.heads.weights[b].size(2) == 1);
          CHECK(max_difference(weights.narrow(2, padding, at + 1),
                               all.weights[b][0].narrow(1, at, 1).narrow(2, 0, at + 1)) < 1e-5);
          if (padding > 0) CHECK(weights.narrow(2, 0, padding).abs().max().item<double>() == 0);
          CHECK(max_difference(found.heads.contexts[b][row], all.contexts[b][0].narrow(1, at, 1)) < 1e-5);
        }
      tokens = ends(3, read, 1);
    }
  }
}

TEST_CASE("gates by row hold for their rows", "[writer]") {
  const auto model = small_model(decoders()[4]);
  PerBlock gates;
  for (size_t b = 0; b < 3; ++b) gates.push_back(random_tensor({3, 6}, 20 + b).to(torch::kFloat32));
  WriterState state = model->start({}, beginnings(2));
  model->next(state, texts_at_end(beginnings(2)), {.gates = gates});
  const torch::Tensor logits = model->next(state, ends(2, 0, 1), {.gates = gates}).values;
  for (int64_t row = 0; row < 3; ++row) {
    PerBlock own;
    for (const torch::Tensor& gate : gates) own.push_back(gate[row]);
    const auto& text = kTexts[static_cast<size_t>(row)];
    const torch::Tensor expected = model->forward(batch_of({text}), {.gates = own}).values[0][std::ssize(text) - 2];
    CHECK(max_difference(logits[row], expected) < 1e-5);
  }
}

TEST_CASE("a copy of what was read goes on by itself, and rows can be chosen", "[writer]") {
  const auto model = small_model(decoders()[5]);
  WriterState state = model->start({}, beginnings(3));
  model->next(state, texts_at_end(beginnings(3)));
  model->next(state, ends(3, 0, 1));  // from here on there is room that copies could share
  WriterState copy = state, chosen = state;
  const torch::Tensor rows = torch::tensor({2, 0});
  chosen.select(rows, rows);
  const torch::Tensor other = torch::tensor({{9}, {1}, {4}});
  const torch::Tensor first = model->next(copy, other).values;
  const torch::Tensor real = model->next(state, ends(3, 1, 1)).values;
  const torch::Tensor after = model->next(copy, other).values;
  CHECK(torch::equal(model->next(chosen, ends(3, 1, 1).index_select(0, rows)).values, real.index_select(0, rows)));
  WriterState again = model->start({}, beginnings(3));
  model->next(again, texts_at_end(beginnings(3)));
  model->next(again, ends(3, 0, 1));
  CHECK(torch::equal(model->next(again, other).values, first));
  CHECK(torch::equal(model->next(again, other).values, after));
  CHECK(max_difference(first, real) > 1e-3);
}

TEST_CASE("a step of a translation reads several tokens and shows its last position", "[writer][translation]") {
  for (const bool joint : {true, false}) {
    const auto model = small_translator_model(small_translator(NormOrder::pre, joint));
    const Batch batch = translation_of({{5, 7, 4, 9, 3}, {8, 3}}, {{2, 4, 4, 9, 5}, {2, 10, 8, 7, 6}});
    const ModelOutput whole = model->forward(batch, {.gates = {}, .weights = true, .contexts = true});
    WriterState state = model->start(whole.memory, batch);
    const torch::Tensor twice = batch.decoder_tokens.repeat_interleave(2, 0);  // two hypotheses each
    for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 3}, {3, 1}, {4, 1}}) {
      const ModelOutput found =
          model->next(state, twice.narrow(1, from, count), {.gates = {}, .weights = true, .contexts = true});
      const int64_t at = from + count - 1;
      CHECK(max_difference(found.values, whole.values.select(1, at).repeat_interleave(2, 0)) < 1e-5);
      const Blocks blocks = model->blocks();
      for (size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].id.kind == Kind::encoder) {
          CHECK_FALSE(found.heads.weights[b].defined());
          continue;
        }
        torch::Tensor weights = whole.heads.weights[b].narrow(2, at, 1);
        if (blocks[b].id.kind == Kind::decoder) weights = weights.narrow(3, 0, at + 1);
        CHECK(max_difference(found.heads.weights[b], weights.repeat_interleave(2, 0)) < 1e-5);
        CHECK(max_difference(found.heads.contexts[b],
                             whole.heads.contexts[b].narrow(2, at, 1).repeat_interleave(2, 0)) < 1e-5);
      }
    }
  }
}

TEST_CASE("a text longer than the learned positions is refused, padding not counted", "[writer]") {
  TransformerConfig config = small_config(Kind::decoder);
  config.max_length = 8;  // those of the longest text
  const auto model = small_model(config);
  CHECK(model->longest() == 8);
  WriterState state = model->start({}, beginnings(1));
  model->next(state, texts_at_end(beginnings(1)));
  model->next(state, ends(1, 0, 1));
  WriterState shorter = state;
  CHECK_THROWS_AS(model->next(state, ends(1, 0, 1)), Error);
  const torch::Tensor rows = torch::tensor({1, 2});
  shorter.select(rows, rows);
  CHECK_NOTHROW(model->next(shorter, ends(1, 0, 1).index_select(0, rows)));
  CHECK(small_model(decoders()[4])->longest() == std::numeric_limits<int64_t>::max());
  CHECK(small_model(small_config(Kind::encoder))->writer() == nullptr);
}

}  // namespace headprune
