// Writing a text token by token, as beam search (task/beam_search.h) and greedy decoding (model/greedy.h) ask for it.
#pragma once

#include <vector>

#include "model/key_value_cache.h"
#include "model/model.h"

namespace headprune {

/// What a decoder keeps between two tokens. Rows: B sentences, each with as many hypotheses as `next` was given tokens
/// for, one sentence after the other.
struct WriterState {
  std::vector<KeyValues> source;  // encoder-decoder, of each decoder layer, computed once a sentence: [B, H, S, ...]
  torch::Tensor source_present;   // [B, S] bool; undefined where nothing is padding
  std::vector<KeyValueCache> written;  // of each decoder layer, N rows
  torch::Tensor padding;               // [N] int64: positions before a row's text; undefined where there are none
  int64_t sentences = 0;               // B
  int64_t length = 0;                  // positions read so far, padding included

  /// Which of the first `positions` of each row hold a token, [N, positions] bool; undefined where all do.
  torch::Tensor present(int64_t positions) const;
  /// Goes on with the hypotheses `rows` [N'] int64 (indices into the N rows) of the sentences `kept` [B'] int64
  /// (indices into the B), in that order; an undefined `kept` keeps all.
  void select(const torch::Tensor& rows, const torch::Tensor& kept = {});
};

class SequenceWriter {
 public:
  virtual ~SequenceWriter() = default;
  /// Tokens that a text may have: of a translation, its end token included; of a decoder, those it goes on from.
  virtual int64_t longest() const = 0;
  /// Nothing is read yet. Encoder-decoder: `memory` [B, S, C] is ModelOutput::memory of a pass over `batch`. A decoder
  /// alone goes on from the texts of `batch`: its first tokens to read are texts_at_end(batch), and `memory` is
  /// undefined.
  virtual WriterState start(const torch::Tensor& memory, const Batch& batch) const = 0;
  /// What follows once each hypothesis has read `tokens` [N, T] more: logits [N, vocabulary]. N is a multiple of the
  /// state's sentences, the same at every call up to select(). The same numbers as a whole pass over the tokens read so
  /// far. `probe`: gates [H] each, of a decoder alone [N, H] too; weights and contexts are those of the last position,
  /// [N, H, 1, S] and [N, H, 1, Dv]. No gradients are recorded.
  virtual ModelOutput next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe = {}) = 0;
};

/// The tokens [B, T] of a batch with its padding, if any, in front of the texts.
torch::Tensor texts_at_end(const Batch& batch);
/// How many positions of each row are padding, [B] int64; undefined where none is.
torch::Tensor padding_of(const Batch& batch);

}  // namespace headprune
