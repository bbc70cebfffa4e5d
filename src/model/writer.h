// Writing a text token by token, as beam search asks for it (task/beam_search.h).
#pragma once

#include <vector>

#include "model/attention.h"
#include "model/model.h"

namespace headprune {

/// What a decoder keeps between two tokens. Rows: B sentences, each with as many hypotheses as `next` was given tokens
/// for, one sentence after the other.
struct WriterState {
  std::vector<KeyValues> source;   // of each decoder layer, computed once a sentence: [B, H, S, Dk] and [B, H, S, Dv]
  torch::Tensor source_present;    // [B, S] bool; undefined where nothing is padding
  std::vector<KeyValues> written;  // of each decoder layer, [N, H, length, ...]; N rows
  int64_t sentences = 0;           // B
  int64_t length = 0;              // tokens read so far

  /// Goes on with the hypotheses `rows` [N'] int64 (indices into the N rows) of the sentences `kept` [B'] int64
  /// (indices into the B), in that order; an undefined `kept` keeps all.
  void select(const torch::Tensor& rows, const torch::Tensor& kept = {});
};

class SequenceWriter {
 public:
  virtual ~SequenceWriter() = default;
  /// Tokens that a text may have, end token included.
  virtual int64_t longest() const = 0;
  /// `memory` [B, S, C]: ModelOutput::memory of a pass over `batch`.
  virtual WriterState start(const torch::Tensor& memory, const Batch& batch) const = 0;
  /// Logits [N, vocabulary] of what follows, once each hypothesis has read one more of `tokens` [N] int64. N is a
  /// multiple of the state's sentences, the same at every call up to select(). The same numbers as a whole pass over
  /// the tokens read so far. `gates` as in HeadProbe, [H] each.
  virtual torch::Tensor next(WriterState& state, const torch::Tensor& tokens, const PerBlock& gates) = 0;
};

}  // namespace headprune
