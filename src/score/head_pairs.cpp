#include "score/head_pairs.h"

#include <algorithm>

#include "score/accumulate.h"

namespace headprune {
namespace {

constexpr int64_t kLeastRows = 4;     // of the debiased HSIC
constexpr int64_t kPairTokens = 256;  // of a batch: HSIC compares every two of them

/// Both halves of a symmetric matrix from its upper one; the diagonal stays.
torch::Tensor mirrored(const torch::Tensor& upper) { return upper.triu() + upper.triu(1).t(); }

torch::Tensor entropy_of_rows(const torch::Tensor& weights) { return at::special_entr(weights).sum(-1); }

/// What a model reads of it; what is to be predicted does not matter here.
Example shortened(const Example& example, int64_t most) {
  Example one;
  const auto cut = [most](std::vector<int64_t> ids) {
    if (std::ssize(ids) > most) ids.resize(static_cast<size_t>(most));
    return ids;
  };
  one.tokens = cut(example.tokens);
  one.token_types = cut(example.token_types);
  one.decoder_tokens = cut(example.decoder_tokens);
  one.targets =
      std::vector<int64_t>(one.decoder_tokens.empty() ? one.tokens.size() : one.decoder_tokens.size(), kNoTarget);
  for (const int64_t at : example.special)
    if (at < most) one.special.push_back(at);
  return one;
}

}  // namespace

std::vector<Batch> pair_batches(const std::vector<Example>& examples, const HeadPairOptions& options,
                                torch::Device device) {
  Split cut;
  for (const Example& example : examples) {
    if (std::ssize(cut.examples) == options.texts) break;
    cut.examples.push_back(shortened(example, options.max_tokens));
  }
  return make_batches(cut, {.tokens = kPairTokens}, device, ChoiceUse::right);
}

torch::Tensor PairMatrices::distance(HeadMeasure measure) const {
  if (measure == HeadMeasure::js) return js;
  return (1 - (measure == HeadMeasure::cka ? cka : cosine)).clamp_min(0);  // NaN stays
}

Distances distances_of(const torch::Tensor& matrix) {
  const torch::Tensor whole = matrix.contiguous();
  const double* const data = whole.const_data_ptr<double>();
  return {matrix.size(0), {data, data + whole.numel()}};
}

PairSums::PairSums(int64_t heads)
    : js(torch::zeros({heads, heads}, torch::kFloat64)),
      rows(torch::zeros_like(js)),
      hsic(torch::zeros_like(js)),
      cosine(torch::zeros_like(js)),
      outputs(torch::zeros_like(js)) {}

void PairSums::operator+=(const PairSums& other) {
  js += other.js, rows += other.rows, hsic += other.hsic, cosine += other.cosine, outputs += other.outputs;
}

PairMatrices PairSums::matrices() const {
  const torch::Tensor own = hsic.diagonal().clamp_min(0).sqrt();  // [N]
  const torch::Tensor cka = mirrored(hsic / (own.unsqueeze(1) * own));
  return {.js = mirrored(js / rows),
          .cka = torch::where(mirrored(outputs) > 0, cka, torch::full_like(cka, NAN)),
          .cosine = mirrored(cosine / outputs)};
}

PairPlaces::PairPlaces(Model& model) : blocks(model.blocks()) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    first.push_back(heads);
    heads += blocks[b].count();
    Attention& attention = model.attention(b);
    const torch::Tensor weight = attention.output().weight.detach();
    output.push_back(
        weight.view({weight.size(0), blocks[b].count(), attention.value_width()}).transpose(0, 1));  // [H, C, Dv]
  }
}

void PairLook::see(size_t block, const HeadContexts& heads, const torch::Tensor& visible) {
  Seen now;
  now.first = places_.first[block];
  now.kind = places_.blocks[block].id.kind;
  now.weights = heads.weights;
  now.entropy = entropy_of_rows(heads.weights);  // [B, H, T]
  now.visible = visible;
  now.counted = visible.sum(-1) > 1;
  const torch::Tensor present = visible.any(-1).squeeze(1);                       // [B, T]
  const torch::Tensor contexts = heads.context.transpose(1, 2).index({present});  // [n, H, Dv]
  const torch::Tensor outputs =
      torch::einsum("nhv,hcv->hnc", {contexts, places_.output[block]}).to(torch::kFloat64);  // [H, n, C]
  now.directions = outputs / outputs.norm(2, -1, true).clamp_min(1e-30);                     // [H, n, C]
  // A shift changes nothing of the debiased HSIC but its rounding, which can be all of it where outputs hardly vary.
  const torch::Tensor centred = outputs - outputs.mean(1, true);  // [H, n, C]
  torch::Tensor gram = centred.matmul(centred.transpose(1, 2));   // [H, n, n]
  gram.diagonal(0, 1, 2).zero_();
  now.gram_sums = gram.sum(-1);  // [H, n]
  now.gram = gram.flatten(1);    // [H, n n]
  for (const Seen& before : seen_) compare(before, now);
  compare(now, now);
  seen_.push_back(std::move(now));
}

void PairLook::compare(const Seen& a, const Seen& b) {
  const int64_t rows = a.weights.size(1), columns = b.weights.size(1), n = a.gram_sums.size(1);
  const auto place = [&](torch::Tensor& matrix) {
    return matrix.narrow(0, a.first, rows).narrow(1, b.first, columns);  // [H, H']
  };
  if (a.kind == b.kind && a.visible.equal(b.visible)) {
    const double counted = a.counted.sum().item<double>();
    for (int64_t h = 0; h < rows; ++h) {
      const torch::Tensor middle = (a.weights.narrow(1, h, 1) + b.weights) / 2;                        // [B, H', T, S]
      const torch::Tensor js = entropy_of_rows(middle) - (a.entropy.narrow(1, h, 1) + b.entropy) / 2;  // [B, H', T]
      place(sums.js)[h] += (js.to(torch::kFloat64) * a.counted).sum({0, 2}).clamp_min(0).cpu();        // [H']
    }
    place(sums.rows) += counted;
  }
  // Outputs of the encoder and of the decoder are of other positions.
  if (a.directions.size(1) != b.directions.size(1) || (a.kind == Kind::encoder) != (b.kind == Kind::encoder)) return;
  place(sums.cosine) += a.directions.flatten(1).matmul(b.directions.flatten(1).t()).cpu();  // [H, H']
  place(sums.outputs) += static_cast<double>(n);
  if (n < kLeastRows) return;
  const auto size = static_cast<double>(n);
  const torch::Tensor traces = a.gram.matmul(b.gram.t());                               // [H, H']
  const torch::Tensor totals = a.gram_sums.sum(-1).unsqueeze(1) * b.gram_sums.sum(-1);  // [H, H']
  const torch::Tensor crossed = a.gram_sums.matmul(b.gram_sums.t());                    // [H, H']
  place(sums.hsic) += (traces + totals / ((size - 1) * (size - 2)) - 2 / (size - 2) * crossed).cpu();
}

}  // namespace headprune
