#include "model/generation_check.h"

#include <algorithm>

namespace headprune {

namespace {

constexpr int64_t kMostTokens = 12;  // of a text

/// Logits of what follows the example, [vocabulary].
torch::Tensor next_logits(TransformerModel& model, const Example& example, const PerBlock& gates) {
  HeadProbe probe;
  probe.gates = gates;
  return model.forward(make_batch({example}, {0}, torch::kCPU), probe).values[0][-1];
}

/// What the decoder has read, of a translation, or the whole sequence.
std::vector<int64_t>& written_ids(Example& example, bool translates) {
  return translates ? example.decoder_tokens : example.tokens;
}

}  // namespace

std::string generation_problem(const GenerationPair& pair, const std::vector<Example>& examples,
                               const GenerationEnds& ends, std::vector<std::vector<int64_t>>& texts) {
  const TransformerConfig& sizes = pair.source.sizes();
  if (sizes.architecture == Architecture::encoder) return "";
  const bool translates = sizes.writes_from_source();
  const bool bounded = sizes.positions == Positions::learned;
  for (size_t i = 0; i < examples.size(); ++i) {
    Example example = examples[i];
    if (translates) example.decoder_tokens = {ends.start};
    std::vector<int64_t>& ids = written_ids(example, translates);
    std::vector<int64_t>& text = texts.emplace_back();
    while (std::ssize(text) < kMostTokens && (!bounded || std::ssize(ids) < sizes.max_length)) {
      example.targets.assign(ids.size(), kNoTarget);
      if (!translates) example.token_types.clear();
      const torch::Tensor expected = next_logits(pair.source, example, pair.gates);
      const torch::Tensor found = next_logits(pair.written, example, {});
      const auto best = expected.argmax().item<int64_t>();
      const double largest = std::max(1.0, expected.abs().max().item<double>());
      if (!(found.max().item<double>() - found[best].item<double>() <= 2 * pair.tolerance * largest))
        return fmt::format("text {} goes on with token {} after {} tokens, the masked model's with {}", i + 1,
                           found.argmax().item<int64_t>(), text.size(), best);
      if (translates && best == ends.end) break;
      text.push_back(best);
      ids.push_back(best);
    }
  }
  return "";
}

}  // namespace headprune
