// Every column against plain loops over one text at a time, and what must not change it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/support.h"
#include "data/vocabulary.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Sum and count of one column of one block, by head.
struct Loop {
  std::vector<double> sums = std::vector<double>(3, 0.0);
  double count = 0;
};
using Loops = std::map<std::string, std::vector<Loop>>;  // by column, then block

/// One row of attention weights of one head, with what it belongs to.
struct Row {
  std::vector<double> weights;  // of the keys in sight
  std::vector<int64_t> ids;     // of the keys in sight
  int64_t query = 0, keys = 0;  // its position; all keys, also those out of sight
  bool self = true;
};

/// What a row adds to a column: nothing where it does not count.
using Term = std::function<std::optional<double>(const Row&)>;

double largest_in(const Row& row, const std::function<bool(int64_t)>& hit) {
  const double top = *std::max_element(row.weights.begin(), row.weights.end());
  if (std::count(row.weights.begin(), row.weights.end(), top) != 1) return 0;
  for (size_t key = 0; key < row.weights.size(); ++key)
    if (row.weights[key] == top) return hit(static_cast<int64_t>(key)) ? 1 : 0;
  return 0;
}

Loops by_loops(const Subject& subject, const std::map<std::string, Term>& terms) {
  const FrozenModel frozen(*subject.model);
  const torch::NoGradGuard no_gradients;
  const Blocks blocks = subject.model->blocks();
  Loops loops;
  for (const auto& [name, term] : terms) loops[name].resize(blocks.size());
  for (const Batch& text : batches_of(subject.examples, 1)) {
    const HeadTrace seen = subject.model->forward(text, {.gates = {}, .weights = true}).heads;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const Kind kind = blocks[b].id.kind;
      const torch::Tensor p = seen.weights[b][0];  // [H, T, S]
      const torch::Tensor& ids =
          kind == Kind::decoder && text.decoder_tokens.defined() ? text.decoder_tokens : text.tokens;
      for (int64_t q = 0; q < p.size(1); ++q) {
        Row row{.weights = {}, .ids = {}, .query = q, .keys = p.size(2), .self = kind != Kind::cross};
        const int64_t sight = kind == Kind::decoder ? q + 1 : p.size(2);
        if (sight < 2) continue;
        for (int64_t s = 0; s < sight; ++s) row.ids.push_back(ids[0][s].item<int64_t>());
        for (const auto& [name, term] : terms) {
          bool counted = false;
          for (int64_t h = 0; h < 3; ++h) {
            row.weights.clear();
            for (int64_t s = 0; s < sight; ++s) row.weights.push_back(p.index({h, q, s}).item<double>());
            const std::optional<double> value = term(row);
            if (value) loops[name][b].sums[static_cast<size_t>(h)] += *value, counted = true;
          }
          if (counted) ++loops[name][b].count;
        }
      }
    }
  }
  return loops;
}

void check_equal(const AnalysisResult& result, const Loops& expected) {
  for (const auto& [name, blocks] : expected) {
    CAPTURE(name);
    const HeadColumn& found = column(result, name);
    for (size_t b = 0; b < blocks.size(); ++b) {
      CAPTURE(b);
      REQUIRE(found.values[b].defined() == (blocks[b].count > 0));
      if (blocks[b].count == 0) continue;
      CHECK(found.n[b] == static_cast<int64_t>(blocks[b].count));
      for (int64_t h = 0; h < 3; ++h)
        CHECK(found.values[b][h].item<double>() ==
              Approx(blocks[b].sums[static_cast<size_t>(h)] / blocks[b].count).epsilon(1e-12).margin(1e-15));
    }
  }
}

void check_columns(const std::string& yaml, const std::map<std::string, Term>& terms) {
  for (const Kind kind : kFamilies) {
    CAPTURE(yaml, to_string(kind));
    const Subject subject = make_subject(kind, torch::kFloat64);
    const AnalysisResult result = analyse(yaml, *subject.model, subject.examples);
    CHECK(result.examples == 7);
    check_equal(result, by_loops(subject, terms));
  }
}

Term weight_of(const std::function<bool(const Row&, int64_t)>& is, bool from_self) {
  return [is, from_self](const Row& row) -> std::optional<double> {
    if (!row.self && from_self) return std::nullopt;
    if (row.self && is(row, row.query) != from_self) return std::nullopt;
    double sum = 0;
    for (int64_t key = 0; key < std::ssize(row.weights); ++key)
      if (is(row, key)) sum += row.weights[static_cast<size_t>(key)];
    return sum;
  };
}

}  // namespace

TEST_CASE("positional equals plain loops", "[analysis]") {
  std::map<std::string, Term> terms;
  for (const int64_t offset : {-2, -1, 1, 2})
    terms[fmt::format("largest_{:+}", offset)] = [offset](const Row& row) -> std::optional<double> {
      const int64_t there = row.query + offset;
      if (!row.self || there < 0 || there >= std::ssize(row.weights)) return std::nullopt;
      return largest_in(row, [&](int64_t key) { return key == there; });
    };
  terms["largest_self"] = [](const Row& row) -> std::optional<double> {
    if (!row.self) return std::nullopt;
    return largest_in(row, [&](int64_t key) { return key == row.query; });
  };
  terms["weight_self"] = [](const Row& row) -> std::optional<double> {
    if (!row.self) return std::nullopt;
    return row.weights[static_cast<size_t>(row.query)];
  };
  terms["weight_first"] = [](const Row& row) -> std::optional<double> { return row.weights[0]; };
  check_columns("positional", terms);
}

TEST_CASE("special equals plain loops", "[analysis]") {
  const auto token = [](int64_t id) {
    return [id](const Row& row, int64_t key) {
      return key < std::ssize(row.ids) && row.ids[static_cast<size_t>(key)] == id;
    };
  };
  const auto last = [](const Row& row, int64_t key) { return key == row.keys - 1; };
  check_columns("special", {{"to_last", weight_of(last, false)}, {"last_to_last", weight_of(last, true)}});
  // On the side of the source; a vocabulary of this kind has no target side.
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    const AnalysisResult result = analyse("special", *subject.model, subject.examples);
    const Loops expected = by_loops(subject, {{"to_classifier", weight_of(token(Vocabulary::kClassification), false)},
                                              {"to_punctuation", weight_of(token(10), false)},
                                              {"punctuation_to_punctuation", weight_of(token(10), true)}});
    check_equal(result, expected);
  }
}

TEST_CASE("rare equals plain loops", "[analysis]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    std::map<int64_t, double> counts;
    for (const Example& example : subject.examples)
      for (const int64_t id : example.tokens) ++counts[id];
    counts[Vocabulary::kClassification] = std::numeric_limits<double>::infinity();
    const auto among = [&counts](size_t rank) {
      return [&counts, rank](const Row& row) -> std::optional<double> {
        std::vector<double> sorted;
        for (const int64_t id : row.ids) sorted.push_back(counts[id]);
        std::sort(sorted.begin(), sorted.end());
        return largest_in(row, [&](int64_t key) {
          const double count = counts[row.ids[static_cast<size_t>(key)]];
          return std::isfinite(count) && count <= sorted[std::min(rank, sorted.size() - 1)];
        });
      };
    };
    const AnalysisResult result = analyse("{rare: {frequent: 0}}", *subject.model, subject.examples);
    const Loops expected = by_loops(subject, {{"largest_on_rarest", among(0)}, {"largest_on_two_rarest", among(1)}});
    check_equal(result, expected);
  }
}

TEST_CASE("batch size, order and padding change nothing of an analysis", "[analysis]") {
  for (const char* yaml : {"positional", "special", "{rare: {frequent: 2}}", "{semantic: {frequent: 1}}"}) {
    CAPTURE(yaml);
    for (const Kind kind : kFamilies) {
      const Subject subject = make_subject(kind, torch::kFloat64);
      const AnalysisResult one = analyse(yaml, *subject.model, subject.examples, {.batch_size = 1});
      for (const Looked& how : {Looked{.batch_size = 7}, Looked{.batch_size = 2, .reverse = true}}) {
        const AnalysisResult other = analyse(yaml, *subject.model, subject.examples, how);
        REQUIRE(other.columns.size() == one.columns.size());
        for (size_t c = 0; c < one.columns.size(); ++c) {
          CHECK(other.columns[c].n == one.columns[c].n);
          for (size_t b = 0; b < one.columns[c].values.size(); ++b) {
            REQUIRE(other.columns[c].values[b].defined() == one.columns[c].values[b].defined());
            if (!one.columns[c].values[b].defined()) continue;
            CHECK(other.columns[c].values[b].allclose(one.columns[c].values[b], 1e-12, 1e-14));
            REQUIRE(other.columns[c].stderr_[b].defined() == one.columns[c].stderr_[b].defined());
            if (one.columns[c].stderr_[b].defined())
              CHECK(other.columns[c].stderr_[b].allclose(one.columns[c].stderr_[b], 1e-9, 1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("analyses that share a pass say what each says alone, and leave the model as it was", "[analysis]") {
  const Subject subject = make_subject(Kind::decoder, torch::kFloat64);
  const Dataset dataset = dataset_of(subject.examples, subject.examples);
  const std::vector<Batch> batches = batches_of(subject.examples, 3);
  int64_t done = 0;
  const std::vector<AnalysisResult> together = headprune::analyse(
      {make_analysis("special"), make_analysis("{induction: {tokens: 3, texts: 5}}"), make_analysis("positional")},
      {.model = *subject.model,
       .dataset = dataset,
       .split = *dataset.score,
       .batches = batches,
       .seed = 3,
       .on_batch = [&] { ++done; }});
  CHECK(done == 4);
  CHECK(subject.model->is_training());
  for (const auto& [place, yaml] : std::vector<std::pair<size_t, std::string>>{{0, "special"}, {2, "positional"}}) {
    const AnalysisResult alone = analyse(yaml, *subject.model, subject.examples);
    for (size_t c = 0; c < alone.columns.size(); ++c)
      for (size_t b = 0; b < alone.columns[c].values.size(); ++b)
        if (alone.columns[c].values[b].defined())
          CHECK(alone.columns[c].values[b].equal(together[place].columns[c].values[b]));
  }
}
