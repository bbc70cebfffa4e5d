#include "task/beam_search.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/random.h"
#include "core/stop.h"
#include "model/marian_golden.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

using Text = std::vector<int64_t>;

/// Log probabilities from a table: what follows depends on the text so far and on nothing else. Token 0 ends a text, 1
/// starts it.
class TableWriter : public SequenceWriter {
 public:
  TableWriter(int64_t vocabulary, uint64_t seed) : vocabulary_(vocabulary), seed_(seed) {}

  int64_t longest() const override { return 100; }
  /// One row a sentence; the "keys" are the texts so far, so that select() moves them as it moves a real cache.
  WriterState start(const torch::Tensor&, const Batch& batch) const override {
    WriterState state;
    const torch::Tensor sentence = torch::arange(batch.size(), torch::kInt64).view({-1, 1, 1, 1});
    state.source = {{sentence, sentence}};
    state.written.resize(1);
    state.sentences = batch.size();
    return state;
  }
  ModelOutput next(WriterState& state, const torch::Tensor& tokens, const HeadProbe&) override {
    const torch::Tensor newest = tokens.view({-1, 1, 1, 1});
    state.written.front().append({newest, newest});
    const torch::Tensor texts = state.written.front().kept().keys;  // [N, 1, length, 1]
    const int64_t N = tokens.size(0), each = N / state.sentences;
    torch::Tensor logits = torch::empty({N, vocabulary_}, torch::kFloat64);
    for (int64_t row = 0; row < N; ++row) {
      Text text;
      for (int64_t t = 1; t < texts.size(2); ++t) text.push_back(texts[row][0][t][0].item<int64_t>());
      const auto sentence = state.source.front().keys[row / each][0][0][0].item<int64_t>();
      const std::vector<double> values = scores(sentence, text);
      for (int64_t v = 0; v < vocabulary_; ++v) logits[row][v] = values[static_cast<size_t>(v)];
    }
    ++state.length;
    return {.values = logits, .memory = {}, .heads = {}};
  }

  std::vector<double> scores(int64_t sentence, const Text& text) const {
    Random random(seed_, fmt::format("{}: {}", sentence, fmt::join(text, " ")));
    std::vector<double> values;
    for (int64_t v = 0; v < vocabulary_; ++v) values.push_back(2 * random.normal());
    return values;
  }
  double log_p(int64_t sentence, const Text& text, int64_t token) const {
    const std::vector<double> values = scores(sentence, text);
    double sum = 0;
    for (const double value : values) sum += std::exp(value);
    return values[static_cast<size_t>(token)] - std::log(sum);
  }

 private:
  int64_t vocabulary_;
  uint64_t seed_;
};

/// A signal comes while the second token is written.
class InterruptedWriter final : public TableWriter {
 public:
  using TableWriter::TableWriter;
  int steps() const { return steps_; }
  ModelOutput next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe) override {
    if (++steps_ == 2) raise(SIGINT);
    return TableWriter::next(state, tokens, probe);
  }

 private:
  int steps_ = 0;
};

Batch sentences(int64_t count) {
  Batch batch;
  for (int64_t i = 0; i < count; ++i) batch.examples.push_back(i);
  return batch;
}

/// Every text of at most `limit` tokens, end token included, or `limit` tokens without one; the best of them.
struct Exhaustive {
  const TableWriter& writer;
  int64_t sentence, vocabulary, limit;
  double alpha;
  Text best = {};
  double most = -INFINITY;

  void look(const Text& text, double log_p) {
    const auto score = [&](double sum, size_t length) {
      return sum / std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
    };
    const double ended = score(log_p + writer.log_p(sentence, text, 0), text.size() + 1);
    if (ended > most) most = ended, best = text;
    for (int64_t token = 2; token < vocabulary; ++token) {
      Text longer = text;
      longer.push_back(token);
      const double sum = log_p + writer.log_p(sentence, text, token);
      if (std::ssize(longer) < limit)
        look(longer, sum);
      else if (score(sum, longer.size()) > most)
        most = score(sum, longer.size()), best = longer;
    }
  }
};

}  // namespace

TEST_CASE("texts are those of a second beam search in Python, which keeps nothing between steps", "[beam]") {
  const torch::NoGradGuard no_grad;
  const MarianGolden golden;
  const auto model = golden.model();
  model->to(torch::kFloat64);
  const Batch batch = golden.batch();
  const torch::Tensor memory = model->forward(batch).memory;
  for (const Json& one : golden.expected["texts"]) {
    INFO("width " << one["width"] << " length_penalty " << one["length_penalty"]);
    const BeamSearch search{.start = 29,
                            .end = 0,
                            .width = one["width"].get<int64_t>(),
                            .length_penalty = one["length_penalty"].get<double>()};
    const auto texts =
        write_texts(*model, model->start(memory, batch), {}, search, one["limits"].get<std::vector<int64_t>>());
    CHECK(Json(texts) == one["tokens"]);
  }
}

TEST_CASE("a beam as wide as everything there is finds the best text of all", "[beam]") {
  constexpr int64_t kVocabulary = 5, kLimit = 4, kSentences = 6;
  for (const double alpha : {0.0, 0.6, 2.0}) {
    TableWriter writer(kVocabulary, 3);
    const BeamSearch search{.start = 1, .end = 0, .width = 200, .length_penalty = alpha};
    static_assert(200 * kSentences > kMostHypotheses);  // so that the sentences are written in parts
    const auto texts = write_texts(writer, writer.start({}, sentences(kSentences)), {}, search,
                                   std::vector<int64_t>(kSentences, kLimit));
    std::vector<Text> different;
    for (int64_t i = 0; i < kSentences; ++i) {
      Exhaustive all{writer, i, kVocabulary, kLimit, alpha};
      all.look({}, 0);
      CHECK(texts[static_cast<size_t>(i)] == all.best);
      if (std::find(different.begin(), different.end(), all.best) == different.end()) different.push_back(all.best);
    }
    CHECK(different.size() > 2);
  }
}

TEST_CASE("a sentence's text does not depend on which others are written beside it", "[beam]") {
  TableWriter writer(7, 5);
  const BeamSearch search{.start = 1, .end = 0, .width = 3, .length_penalty = 0.6};
  const std::vector<int64_t> limits = {9, 3, 6, 12, 1};
  const auto together = write_texts(writer, writer.start({}, sentences(5)), {}, search, limits);
  for (int64_t i = 0; i < 5; ++i) {
    WriterState state = writer.start({}, sentences(5));
    state.select(torch::tensor({i}), torch::tensor({i}));
    CHECK(write_texts(writer, std::move(state), {}, search, {limits[static_cast<size_t>(i)]}).front() ==
          together[static_cast<size_t>(i)]);
    CHECK(std::ssize(together[static_cast<size_t>(i)]) <= limits[static_cast<size_t>(i)]);
  }
}

TEST_CASE("a stop request is heard between two tokens of a batch", "[beam]") {
  const pid_t child = fork();  // a signal stays received
  if (child == 0) {
    at::set_num_threads(1);  // the other threads stayed with the parent
    install_signal_handlers({"INT"});
    InterruptedWriter writer(7, 5);
    int steps = 99;
    try {
      write_texts(writer, writer.start({}, sentences(2)), {}, {.start = 1, .end = 0, .width = 3}, {50, 50});
    } catch (const Interrupted&) {
      steps = writer.steps();
    }
    _exit(steps);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 2));
}

TEST_CASE("a batch with more hypotheses than are kept at once gives the texts of its sentences alone", "[beam]") {
  TableWriter writer(4, 6);
  const BeamSearch search{.start = 1, .end = 0, .width = kMostHypotheses / 2, .length_penalty = 0.6};
  const std::vector<int64_t> limits = {3, 1, 4, 2, 3};  // parts of two, two and one
  const auto together = write_texts(writer, writer.start({}, sentences(5)), {}, search, limits);
  REQUIRE(together.size() == 5);
  for (int64_t i = 0; i < 5; ++i) {
    WriterState state = writer.start({}, sentences(5));
    state.select(torch::tensor({i}), torch::tensor({i}));
    CHECK(write_texts(writer, std::move(state), {}, search, {limits[static_cast<size_t>(i)]}).front() ==
          together[static_cast<size_t>(i)]);
  }
}

TEST_CASE("cached decoding gives the tokens and logits of whole passes, with and without removed heads", "[beam]") {
  const torch::NoGradGuard no_grad;
  const MarianGolden golden;
  const Json& masked = golden.expected["masked"];
  for (size_t m = 0; m <= masked.size(); ++m) {
    const HeadSet removed = m < masked.size() ? HeadSet::from_json(masked[m]["removed"]) : HeadSet();
    INFO(removed.to_json().dump());
    const auto model = golden.model();
    const PerBlock gates = mask_gates(model->blocks(), removed, torch::kCPU);
    const auto pruned = std::dynamic_pointer_cast<EncoderDecoder>(model->copy());
    pruned->remove_heads(removed);
    for (const bool physically : {false, true}) {
      EncoderDecoder& writer = physically ? *pruned : *model;
      const PerBlock used = physically ? PerBlock() : gates;
      const Batch batch = golden.batch();
      const ModelOutput whole = writer.forward(batch, {.gates = used});
      // Each example's own tokens, three times: as three hypotheses.
      WriterState state = writer.start(whole.memory, batch);
      const torch::Tensor tokens = batch.decoder_tokens.repeat_interleave(3, 0);  // [3 B, T]
      for (int64_t t = 0; t < tokens.size(1); ++t) {
        const torch::Tensor logits = writer.next(state, tokens.narrow(1, t, 1), {.gates = used}).values;
        const torch::Tensor expected = whole.values.select(1, t).repeat_interleave(3, 0);
        const torch::Tensor real = batch.decoder_present.select(1, t).repeat_interleave(3, 0);
        CHECK((logits - expected).index({real}).abs().max().item<double>() < 1e-5);
      }
    }
    const BeamSearch search{.start = 29, .end = 0, .width = 3, .length_penalty = 0.6};
    const Batch batch = golden.batch();
    const std::vector<int64_t> limits(golden.examples.size(), 10);
    const auto by_gates =
        write_texts(*model, model->start(model->forward(batch, {.gates = gates}).memory, batch), gates, search, limits);
    CHECK(by_gates == write_texts(*pruned, pruned->start(pruned->forward(batch).memory, batch), {}, search, limits));
  }
}

TEST_CASE("logits that are not finite end a text, and the others go on", "[beam]") {
  class Broken final : public SequenceWriter {
   public:
    int64_t longest() const override { return 10; }
    WriterState start(const torch::Tensor&, const Batch& batch) const override {
      return TableWriter(4, 1).start({}, batch);
    }
    ModelOutput next(WriterState& state, const torch::Tensor& tokens, const HeadProbe& probe) override {
      ModelOutput output = good.next(state, tokens, probe);
      const int64_t each = tokens.size(0) / state.sentences;
      for (int64_t row = 0; row < tokens.size(0); ++row)
        if (state.source.front().keys[row / each][0][0][0].item<int64_t>() == 1) output.values[row].fill_(NAN);
      return output;
    }
    TableWriter good = TableWriter(4, 1);
  };
  Broken writer;
  TableWriter good(4, 1);
  const BeamSearch search{.start = 1, .end = 0, .width = 2, .length_penalty = 0};
  const auto texts = write_texts(writer, writer.start({}, sentences(3)), {}, search, {5, 5, 5});
  const auto expected = write_texts(good, good.start({}, sentences(3)), {}, search, {5, 5, 5});
  CHECK(texts[0] == expected[0]);
  CHECK(texts[1].empty());
  CHECK(texts[2] == expected[2]);
}
