#include "task/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/stop.h"

namespace headprune {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

using Text = std::vector<int64_t>;

struct Hypothesis {
  Text tokens;
  double log_p = 0;
};

/// A token after a hypothesis.
struct Continuation {
  size_t hypothesis = 0;
  int64_t token = 0;
  double log_p = 0;
};

/// The most likely next tokens of every hypothesis, best first. Both [N, count].
struct NextTokens {
  torch::Tensor log_p;   // float64
  torch::Tensor tokens;  // int64
};

NextTokens next_tokens(const torch::Tensor& logits, const BeamSearch& search) {
  torch::Tensor log_p = at::log_softmax(logits.to(torch::kFloat64), -1);  // [N, vocabulary]
  log_p.select(1, search.start).fill_(kImpossible);
  const int64_t count = std::min(2 * search.width, log_p.size(1));
  const auto [values, ids] = at::topk(log_p, count);  // [N, count]
  return {values.cpu().contiguous(), ids.cpu().contiguous()};
}

/// One sentence's search.
class Sentence {
 public:
  Sentence(size_t index, int64_t limit) : index_(index), limit_(limit) {}
  size_t index() const { return index_; }
  bool done() const { return done_; }
  const std::vector<Hypothesis>& going_on() const { return going_on_; }
  /// Of the hypothesis that going_on()[i] continues, among those before the last step.
  const std::vector<size_t>& parents() const { return parents_; }

  /// `first`: the row of this sentence's first hypothesis.
  void advance(const NextTokens& next, int64_t first, const BeamSearch& search) {
    std::vector<Continuation> ranked;
    for (size_t h = 0; h < going_on_.size(); ++h)
      for (int64_t i = 0; i < next.tokens.size(1); ++i) {
        const int64_t at = (first + static_cast<int64_t>(h)) * next.tokens.size(1) + i;
        const double log_p = next.log_p.const_data_ptr<double>()[at];
        if (std::isnan(log_p)) return give_up();
        ranked.push_back({h, next.tokens.const_data_ptr<int64_t>()[at], going_on_[h].log_p + log_p});
      }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Continuation& a, const Continuation& b) {
      if (a.log_p != b.log_p) return a.log_p > b.log_p;
      return a.hypothesis != b.hypothesis ? a.hypothesis < b.hypothesis : a.token < b.token;
    });
    take(ranked, search);
  }

  Text best() const {
    const auto at = std::max_element(set_aside_.begin(), set_aside_.end(),
                                     [](const Hypothesis& a, const Hypothesis& b) { return a.log_p < b.log_p; });
    return at == set_aside_.end() ? Text() : at->tokens;
  }

 private:
  void take(const std::vector<Continuation>& ranked, const BeamSearch& search) {
    const auto width = static_cast<size_t>(search.width);
    std::vector<Hypothesis> now;
    std::vector<size_t> parents;
    for (size_t rank = 0; rank < ranked.size() && now.size() < width; ++rank) {
      const Continuation& one = ranked[rank];
      Hypothesis next{going_on_[one.hypothesis].tokens, one.log_p};
      if (one.token == search.end) {
        if (rank < width && one.log_p > kImpossible) set_aside(std::move(next), 1, search);
        continue;
      }
      next.tokens.push_back(one.token);
      parents.push_back(one.hypothesis);
      now.push_back(std::move(next));
    }
    // A vocabulary smaller than the beam: hypotheses that can never win keep the rows of a sentence equal in number.
    while (now.size() < width) {
      now.push_back({now.empty() ? Text{search.end} : now.front().tokens, kImpossible});
      parents.push_back(parents.empty() ? 0 : parents.front());
    }
    going_on_ = std::move(now);
    parents_ = std::move(parents);
    done_ = set_aside_.size() >= width || std::ssize(going_on_.front().tokens) >= limit_;
    if (set_aside_.size() >= width) return;
    if (done_)
      for (const Hypothesis& one : going_on_)
        if (one.log_p > kImpossible) set_aside(one, 0, search);
  }

  /// `ends`: 1 where the text has an end token, which its length counts.
  void set_aside(Hypothesis text, int64_t ends, const BeamSearch& search) {
    const auto length = static_cast<double>(std::ssize(text.tokens) + ends);
    text.log_p /= std::pow((5.0 + length) / 6.0, search.length_penalty);
    set_aside_.push_back(std::move(text));
  }

  void give_up() {
    set_aside_.clear();
    done_ = true;
  }

  size_t index_;
  int64_t limit_;
  bool done_ = false;
  std::vector<Hypothesis> going_on_ = {Hypothesis{}}, set_aside_;
  std::vector<size_t> parents_;
};

torch::Tensor ids_of(const std::vector<int64_t>& values, torch::Device device) {
  return torch::tensor(values, torch::kInt64).to(device);
}

}  // namespace

std::vector<Text> write_texts(SequenceWriter& writer, WriterState state, const PerBlock& gates,
                              const BeamSearch& search, const std::vector<int64_t>& limits) {
  TORCH_CHECK(state.sentences == std::ssize(limits), limits.size(), " limits for ", state.sentences, " sentences");
  const torch::Device device = state.source.front().keys.device();
  std::vector<Text> texts;
  const int64_t together = std::max<int64_t>(kMostHypotheses / search.width, 1);
  if (state.sentences > together) {
    for (int64_t first = 0; first < state.sentences; first += together) {
      const int64_t last = std::min(first + together, state.sentences);
      const torch::Tensor part = torch::arange(first, last, torch::kInt64).to(device);
      WriterState some = state;
      some.select(part, part);
      for (Text& text :
           write_texts(writer, std::move(some), gates, search, {limits.begin() + first, limits.begin() + last}))
        texts.push_back(std::move(text));
    }
    return texts;
  }
  texts.resize(limits.size());
  std::vector<Sentence> active;
  for (size_t i = 0; i < limits.size(); ++i) active.emplace_back(i, limits[i]);

  torch::Tensor tokens = torch::full({state.sentences, 1}, search.start, torch::kInt64).to(device);  // [N, 1]
  while (!active.empty()) {
    check_stop();  // a batch of long texts takes minutes
    const NextTokens next = next_tokens(writer.next(state, tokens, {.gates = gates}).values, search);
    std::vector<int64_t> rows, newest, kept;
    std::vector<Sentence> going_on;
    int64_t first = 0;
    for (size_t i = 0; i < active.size(); ++i) {
      Sentence& sentence = active[i];
      const int64_t mine = std::ssize(sentence.going_on());
      sentence.advance(next, first, search);
      if (sentence.done()) {
        texts[sentence.index()] = sentence.best();
      } else {
        kept.push_back(static_cast<int64_t>(i));
        for (size_t h = 0; h < sentence.going_on().size(); ++h) {
          rows.push_back(first + static_cast<int64_t>(sentence.parents()[h]));
          newest.push_back(sentence.going_on()[h].tokens.back());
        }
        going_on.push_back(std::move(sentence));
      }
      first += mine;
    }
    if (going_on.empty()) break;
    const bool all = going_on.size() == active.size();
    state.select(ids_of(rows, device), all ? torch::Tensor() : ids_of(kept, device));
    tokens = ids_of(newest, device).unsqueeze(1);  // [N, 1]
    active = std::move(going_on);
  }
  return texts;
}

}  // namespace headprune
