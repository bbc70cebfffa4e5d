// entropy: attention known on paper, and plain loops over one example at a time.
#include <cmath>

#include "core/error.h"
#include "data/vocabulary.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Entropy of one example's rows by plain loops, with the options of the score.
struct EntropyReference {
  bool log_keys = true, skip_special = false;
  bool carrying = false;  // in the last block, the first position alone
};
PerBlock reference(const Subject& subject, const EntropyReference& how) {
  const FrozenModel frozen(*subject.model);
  const torch::NoGradGuard guard;
  PerBlock result;
  const Blocks blocks = subject.model->blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Kind kind = blocks[b].id.kind;
    std::vector<double> sums(3, 0.0);
    int counted = 0;
    for (const Batch& example : batches_of(subject.examples, 1)) {
      HeadProbe probe;
      probe.weights = true;
      const torch::Tensor p = subject.model->forward(example, probe).heads.weights[b][0];  // [H, T, S]
      std::vector<double> of_example(3, 0.0);
      int rows = 0;
      const int64_t queries = how.carrying && b + 1 == blocks.size() ? 1 : p.size(1);
      for (int64_t q = 0; q < queries; ++q) {
        const int64_t keys = kind == Kind::decoder ? q + 1 : p.size(2);
        if (how.log_keys && keys == 1) continue;
        // What a decoder beside an encoder reads first is its start token.
        const bool of_target = kind != Kind::encoder && example.decoder_tokens.defined();
        if (how.skip_special && (of_target ? q == 0 : example.special[0][q].item<bool>())) continue;
        ++rows;
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t s = 0; s < keys; ++s) {
            const double weight = p.index({h, q, s}).item<double>();
            of_example[static_cast<size_t>(h)] -=
                weight * std::log(weight) / (how.log_keys ? std::log(static_cast<double>(keys)) : 1);
          }
      }
      if (rows == 0) continue;
      ++counted;
      for (size_t h = 0; h < 3; ++h) sums[h] += of_example[h] / rows;
    }
    result.push_back(torch::tensor(sums, torch::kFloat64) / counted);
  }
  return result;
}

/// A subject whose first head attends uniformly everywhere, and whose second attends to one key.
Subject known_attention(Kind kind) {
  Subject subject = make_subject(kind, torch::kFloat64);
  const torch::NoGradGuard guard;
  for (size_t b = 0; b < 2; ++b) {
    Attention& attention = subject.model->attention(b);
    attention.query().weight.slice(0, 0, 3).zero_();
    attention.query().bias.slice(0, 0, 3).zero_();
    attention.query().weight.slice(0, 3, 6).mul_(1e7);
    attention.query().bias.slice(0, 3, 6).mul_(1e7);
  }
  return subject;
}

}  // namespace

TEST_CASE("entropy equals plain loops over each example", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    CAPTURE(to_string(kind));
    const auto check = [&](const std::string& options, const EntropyReference& how) {
      CAPTURE(options);
      const Importance importance = score("{entropy: {keep: diffuse, " + options + "}}", subject, {.batch_size = 64});
      CHECK(relative_difference(importance.values, reference(subject, how)) < 1e-12);
    };
    check("scale: log_keys", {.log_keys = true, .skip_special = false});
    check("scale: nats", {.log_keys = false, .skip_special = false});
    check("scale: log_keys, skip_special: true", {.log_keys = true, .skip_special = true});
    check("scale: nats, skip_special: true", {.log_keys = false, .skip_special = true});
    check("positions: carrying", {.log_keys = true, .skip_special = false, .carrying = kind == Kind::encoder});
  }
}

TEST_CASE("a block in which no position counts is an error, not an entropy of 0", "[score]") {
  // The classifier looks at the first position, which is special: nothing is left of the last block.
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  try {
    score("{entropy: {positions: carrying, skip_special: true}}", subject);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::run_failed);
    CHECK_THAT(error.what(), ContainsSubstring("counts in encoder.L1"));
  }
}

TEST_CASE("a uniform head scores log keys and a one-hot head 0", "[score]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const Subject subject = known_attention(kind);
    const Importance scaled = score("{entropy: {keep: diffuse}}", subject);
    double nats = 0;  // mean over x of the mean over q of log of the number of visible keys
    for (const Example& example : subject.examples) {
      const size_t length = example.tokens.size();
      double sum = 0;
      for (size_t q = 0; q < length; ++q) sum += std::log(static_cast<double>(kind == Kind::decoder ? q + 1 : length));
      nats += sum / static_cast<double>(length) / 7;
    }
    const Importance unscaled = score("{entropy: {keep: diffuse, scale: nats}}", subject);
    for (const int64_t b : {0, 1}) {
      const auto block = static_cast<size_t>(b);
      CHECK(scaled.values[block][0].item<double>() == Approx(1).epsilon(1e-12));
      CHECK(scaled.values[block][1].item<double>() == Approx(0).margin(1e-6));
      CHECK(unscaled.values[block][0].item<double>() == Approx(nats).epsilon(1e-12));
      CHECK(scaled.values[block][2].item<double>() > 0.01);
      CHECK(scaled.values[block][2].item<double>() < 0.999);
    }
  }
}

TEST_CASE("a focused head is the important one by default, a diffuse one when asked", "[score]") {
  const Subject subject = known_attention(Kind::encoder);
  const Importance focused = score("entropy", subject), diffuse = score("{entropy: {keep: diffuse}}", subject);
  CHECK(focused.values[0][1].item<double>() > focused.values[0][2].item<double>());
  CHECK(focused.values[0][2].item<double>() > focused.values[0][0].item<double>());
  CHECK(relative_difference(focused.values, {-diffuse.values[0], -diffuse.values[1]}) == 0);
  CHECK(relative_difference(focused.stderr_, diffuse.stderr_) == 0);
}

TEST_CASE("examples whose queries all see one key are left out, and none left is an error", "[score]") {
  Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  const Importance before = score("entropy", subject);
  Example single;
  single.tokens = {Vocabulary::kClassification};
  single.special = {0};
  single.label = 0;
  subject.examples.push_back(single);
  const Importance after = score("entropy", subject, {.batch_size = 64});
  CHECK(relative_difference(after.values, before.values) < 1e-12);
  CHECK(after.n == std::vector<int64_t>{7, 7});
  subject.examples = {single};
  CHECK_THROWS_WITH(score("entropy", subject), ContainsSubstring("no example of the score split has a position"));
}

TEST_CASE("a block's n is that of the examples that count in it, and one example has no standard error", "[score]") {
  // Sources of one position beside longer targets: the encoder's and cross-attention's queries see one key each.
  Subject subject = make_subject(Kind::cross, torch::kFloat64);
  for (size_t i = 0; i < subject.examples.size(); ++i) {
    if (i == 1) continue;
    subject.examples[i].tokens.resize(1);
    subject.examples[i].special.resize(1);
  }
  const Importance importance = score("entropy", subject, {.batch_size = 64});
  const Blocks blocks = subject.model->blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    CAPTURE(to_string(blocks[b].id));
    const bool decoder = blocks[b].id.kind == Kind::decoder;
    CHECK(importance.n[b] == (decoder ? std::ssize(subject.examples) : 1));
    CHECK(importance.stderr_[b].defined() == decoder);
  }
  // No example of even index counts in the encoder: there is no second ranking of all heads.
  CHECK(importance.halves[0].empty());
  CHECK(importance.halves[1].empty());
}

TEST_CASE("entropy is of the keys that a head sees, where heads of a block see different ones", "[score][pattern]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    Subject subject = make_subject(kind, torch::kFloat64);
    TransformerConfig config = subject.model->sizes();
    config.patterns = {StridedOptions{.stride = 2}};
    const auto strided = make_transformer(config);
    strided->to(torch::kFloat64);
    const torch::NoGradGuard no_grad;
    copy_equal_shapes(*subject.model, *strided);
    // Scores of 0: every head looks at all that it sees alike, in one block; in the other as the weights say.
    strided->attention(0).query().weight.zero_();
    strided->attention(0).query().bias.zero_();
    subject.model = strided;
    subject.model->eval();
    const Importance alike = score("{entropy: {keep: diffuse}}", subject, {.batch_size = 64});
    for (int64_t h = 0; h < 3; ++h) CHECK(alike.values[0][h].item<double>() == Approx(1).epsilon(1e-9));
    // By loops over each example alone: rows that see two keys or more, of examples in which every head has one.
    const auto sees = [&](int64_t head, int64_t i, int64_t j) {
      const int64_t behind = i - j;
      if (kind == Kind::decoder && behind < 0) return false;
      return head % 2 == 0 ? std::abs(behind) <= 2 : behind % 2 == 0;
    };
    std::vector<double> sums(3, 0.0);
    int examples = 0;
    for (const Batch& example : batches_of(subject.examples, 1)) {
      HeadProbe probe;
      probe.weights = true;
      const torch::Tensor p = subject.model->forward(example, probe).heads.weights[1][0];  // [H, T, S]
      std::vector<double> of_heads;
      for (int64_t h = 0; h < 3; ++h) {
        double sum = 0;
        int rows = 0;
        for (int64_t i = 0; i < p.size(1); ++i) {
          int keys = 0;
          double entropy = 0;
          for (int64_t j = 0; j < p.size(2); ++j) {
            const double weight = p[h][i][j].item<double>();
            CHECK((weight > 0) == sees(h, i, j));
            if (!sees(h, i, j)) continue;
            ++keys;
            entropy -= weight * std::log(weight);
          }
          if (keys > 1) sum += entropy / std::log(static_cast<double>(keys)), ++rows;
        }
        if (rows > 0) of_heads.push_back(sum / rows);
      }
      if (of_heads.size() < 3) continue;
      ++examples;
      for (size_t h = 0; h < 3; ++h) sums[h] += of_heads[h];
    }
    CHECK(examples < std::ssize(subject.examples));
    for (int64_t h = 0; h < 3; ++h)
      CHECK(alike.values[1][h].item<double>() == Approx(sums[static_cast<size_t>(h)] / examples).epsilon(1e-9));
  }
}
