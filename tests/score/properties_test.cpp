// What docs/definitions.md "Scores" promises of every score, walked over every definition that the registered scores
// offer, for every family, with padded batches.
#include <algorithm>
#include <map>

#include "core/error.h"
#include "model/attention.h"
#include "support.h"
#include "support/threads.h"

using namespace headprune;
using namespace headprune::test;

namespace {

std::map<std::string, torch::Tensor> snapshot(const Model& model) {
  std::map<std::string, torch::Tensor> copy;
  for (const auto& entry : model.named_parameters()) copy[entry.key()] = entry.value().detach().clone();
  for (const auto& entry : model.named_buffers()) copy[entry.key()] = entry.value().detach().clone();
  return copy;
}

bool same_bytes(const PerBlock& a, const PerBlock& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!torch::equal(a[i], b[i])) return false;
  return true;
}

/// Moves slice `from[i]` of axis `axis`, made of slices of `width`, to place i.
torch::Tensor permuted(const torch::Tensor& tensor, int64_t axis, int64_t width, const std::vector<int64_t>& from) {
  std::vector<torch::Tensor> parts;
  for (const int64_t slice : from) parts.push_back(tensor.narrow(axis, slice * width, width));
  return torch::cat(parts, axis);
}

}  // namespace

TEST_CASE("a score does not depend on batch size, order of examples or padding", "[score]") {
  for (const Kind kind : kFamilies) {
    for (const auto type : {torch::kFloat64, torch::kFloat32}) {
      const Subject subject = make_subject(kind, type);
      const double tolerance = type == torch::kFloat64 ? 1e-12 : 1e-4;
      for (const Definition& definition : definitions()) {
        if (definition.depends_on_batches) continue;
        CAPTURE(to_string(kind), definition.yaml, tolerance);
        const Importance alone = score(definition.yaml, subject, {.batch_size = 1});
        const Importance whole = score(definition.yaml, subject, {.batch_size = 64});
        const Importance reversed = score(definition.yaml, subject, {.batch_size = 3, .reverse = true});
        CHECK(relative_difference(whole.values, alone.values) <= tolerance);
        CHECK(relative_difference(reversed.values, alone.values) <= tolerance);
        CHECK(whole.n == alone.n);
        CHECK(whole.stderr_.size() == alone.stderr_.size());
        if (!alone.stderr_.empty())
          CHECK(relative_difference(whole.stderr_, alone.stderr_) <= (type == torch::kFloat64 ? 1e-9 : 1e-3));
        for (size_t half = 0; half < 2; ++half) {
          CHECK(alone.halves[half].empty() == alone.stderr_.empty());
          if (alone.halves[half].empty()) continue;
          CHECK(relative_difference(whole.halves[half], alone.halves[half]) <= tolerance);
          CHECK(relative_difference(reversed.halves[half], alone.halves[half]) <= tolerance);
        }
      }
    }
  }
}

TEST_CASE("a score's halves are what the examples of even and of odd index alone would give", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      const Importance whole = score(definition.yaml, subject);
      if (whole.halves[0].empty()) continue;
      for (size_t half = 0; half < 2; ++half) {
        Subject part = subject;
        part.examples.clear();
        for (size_t i = half; i < subject.examples.size(); i += 2) part.examples.push_back(subject.examples[i]);
        CHECK(relative_difference(whole.halves[half], score(definition.yaml, part).values) <= 1e-12);
      }
    }
  }
}

TEST_CASE("two passes give the same bytes and leave the model as it was", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat32);
    subject.model->parameters()[0].requires_grad_(false);
    const auto before = snapshot(*subject.model);
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      const Importance first = score(definition.yaml, subject), second = score(definition.yaml, subject);
      CHECK(same_bytes(first.values, second.values));
      CHECK(same_bytes(first.stderr_, second.stderr_));
      CHECK(subject.model->is_training());
      for (const auto& entry : subject.model->named_parameters()) {
        CAPTURE(entry.key());
        CHECK(torch::equal(entry.value(), before.at(entry.key())));
        CHECK_FALSE(entry.value().grad().defined());
        CHECK(entry.value().requires_grad() == (entry.value().data_ptr() != subject.model->parameters()[0].data_ptr()));
      }
      for (const auto& entry : subject.model->named_buffers())
        CHECK(torch::equal(entry.value(), before.at(entry.key())));
    }
  }
}

TEST_CASE("a score's bytes do not depend on how many threads share the batches", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat32);
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      std::vector<Importance> found;
      for (const int threads : {1, 2, 4}) {
        const testing::WithThreads with(threads);
        found.push_back(score(definition.yaml, subject, {.batch_size = 1}));
      }
      for (const Importance& other : found) {
        CHECK(same_bytes(other.values, found.front().values));
        CHECK(same_bytes(other.stderr_, found.front().stderr_));
        CHECK(other.n == found.front().n);
      }
    }
  }
}

TEST_CASE("a score in bfloat16 stays near that in float32", "[score][bfloat16]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat32);
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      // Debiased, and of few positions: a number around 0, and which head is nearest hangs on it.
      if (definition.yaml.find("cka") != std::string::npos) continue;
      const Importance exact = score(definition.yaml, subject);
      const WithProducts with(*subject.model, {.type = ComputeType::bfloat16});
      const Importance near = score(definition.yaml, subject);
      CHECK(relative_difference(near.values, exact.values) < 0.1);
      if (definition.looks_at_model) CHECK_FALSE(same_bytes(near.values, exact.values));
    }
  }
}

TEST_CASE("a score leaves a .grad that is already there alone", "[score]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  for (torch::Tensor& parameter : subject.model->parameters())
    parameter.mutable_grad() = torch::full_like(parameter, 2);
  for (const Definition& definition : definitions()) score(definition.yaml, subject);
  for (const torch::Tensor& parameter : subject.model->parameters())
    CHECK(torch::equal(parameter.grad(), torch::full_like(parameter, 2)));
}

TEST_CASE("the model is restored when a score throws", "[score]") {
  for (const Definition& definition : definitions()) {
    if (!definition.looks_at_model) continue;
    CAPTURE(definition.yaml);
    const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
    const torch::NoGradGuard guard;
    subject.model->attention(1).value().weight.fill_(std::numeric_limits<float>::quiet_NaN());
    subject.model->attention(1).query().weight.fill_(std::numeric_limits<float>::quiet_NaN());
    CHECK_THROWS_AS(score(definition.yaml, subject), Error);
    CHECK(subject.model->is_training());
    for (const torch::Tensor& parameter : subject.model->parameters()) CHECK(parameter.requires_grad());
  }
}

TEST_CASE("heads that are gated off score 0 and take no part, as if they had been removed", "[score]") {
  const HeadSet gone({{{Kind::encoder, 0}, 1}, {{Kind::encoder, 1}, 0}});
  for (const Kind kind : kFamilies) {
    HeadSet removed;
    for (const HeadId& head : gone.heads()) removed.insert({{kind, head.block.layer}, head.head});
    const Subject masked = make_subject(kind, torch::kFloat64);
    const Subject cut = make_subject(kind, torch::kFloat64, removed);
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      const Importance with_gates = score(definition.yaml, masked, {.removed = removed});
      const Importance without = score(definition.yaml, cut);
      CHECK(with_gates.ties == without.ties);
      for (const HeadId& head : all_heads(masked.model->blocks())) {
        CAPTURE(to_string(head));
        const double value = value_of(with_gates, masked.model->blocks(), head);
        if (removed.contains(head))
          CHECK(value == 0);
        else
          CHECK(value == Approx(value_of(without, cut.model->blocks(), head)).epsilon(1e-9).margin(1e-14));
      }
    }
  }
}

TEST_CASE("a block or a model without heads can be scored", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject intact = make_subject(kind, torch::kFloat32);
    const HeadSet block({{{kind, 1}, 0}, {{kind, 1}, 1}, {{kind, 1}, 2}}), all(all_heads(intact.model->blocks()));
    const size_t emptied = place_of(intact, {kind, 1});
    for (const Definition& definition : definitions()) {
      CAPTURE(to_string(kind), definition.yaml);
      const Subject cut = make_subject(kind, torch::kFloat32, block);
      const Importance importance = score(definition.yaml, cut);
      REQUIRE(importance.values.size() == intact.model->blocks().size());
      for (size_t b = 0; b < importance.values.size(); ++b)
        CHECK(importance.values[b].numel() == (b == emptied ? 0 : 3));
      const Importance masked = score(definition.yaml, make_subject(kind, torch::kFloat32), {.removed = block});
      CHECK(masked.values[emptied].abs().sum().item<double>() == 0);
      for (const Importance& nothing :
           {score(definition.yaml, make_subject(kind, torch::kFloat32, all)),
            score(definition.yaml, make_subject(kind, torch::kFloat32), {.removed = all})}) {
        CHECK(nothing.forward == 0);
        for (const torch::Tensor& values : nothing.values) CHECK(values.abs().sum().item<double>() == 0);
      }
    }
  }
}

TEST_CASE("permuting heads permutes scores", "[score]") {
  const std::vector<int64_t> from = {2, 0, 1};
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64), moved = make_subject(kind, torch::kFloat64);
    const size_t place = place_of(moved, {kind, 1});
    {
      const torch::NoGradGuard guard;
      Attention& attention = moved.model->attention(place);
      for (Projection* projection : {&attention.query(), &attention.key(), &attention.value()}) {
        const int64_t width = projection == &attention.value() ? attention.value_width() : attention.key_width();
        projection->weight.copy_(permuted(projection->weight, 0, width, from).clone());
        projection->bias.copy_(permuted(projection->bias, 0, width, from).clone());
      }
      attention.output().weight.copy_(permuted(attention.output().weight, 1, attention.value_width(), from).clone());
    }
    for (const Definition& definition : definitions()) {
      if (definition.yaml == "random" || definition.draws_orders) continue;
      CAPTURE(to_string(kind), definition.yaml);
      const Importance plain = score(definition.yaml, subject), permuted_heads = score(definition.yaml, moved);
      PerBlock expected = plain.values;
      expected[place] = expected[place].index_select(0, torch::tensor(from));
      CHECK(relative_difference(permuted_heads.values, expected) < 1e-9);
      CHECK(relative_difference(permuted_heads.values, plain.values) > 1e-6);  // the permutation was one
    }
  }
}

TEST_CASE("methods that share a pass score as they do alone, and each states its own cost", "[score]") {
  for (const Kind kind : kFamilies) {
    const Subject subject = make_subject(kind, torch::kFloat64);
    std::vector<std::shared_ptr<const ScoreMethod>> methods;
    std::vector<ScoreRequest> requests;
    for (const Definition& definition : definitions()) {
      methods.push_back(make_score(definition.yaml));
      requests.push_back({methods.back().get(), definition.yaml, 0});
    }
    const std::vector<Batch> batches = batches_of(subject.examples, 3);
    const HeadSet none;
    const std::vector<Importance> together = importance(requests, {*subject.model, subject.task, batches, 7, none, 3});
    for (size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(to_string(kind), requests[i].label);
      const Importance alone = score(requests[i].label, subject);
      CHECK(relative_difference(together[i].values, alone.values) < 1e-11);
      CHECK(together[i].forward == alone.forward);
      CHECK(together[i].backward == alone.backward);
      CHECK(together[i].examples == alone.examples);
    }
  }
  const Subject subject = make_subject(Kind::encoder, torch::kFloat32);
  const Importance gradient = score("gradient_l1", subject), entropy = score("entropy", subject),
                   random = score("random", subject);
  CHECK((gradient.forward == 3 && gradient.backward == 3 && gradient.examples == 7 &&
         gradient.n == std::vector<int64_t>(gradient.values.size(), 7)));
  CHECK((entropy.forward == 3 && entropy.backward == 0));
  CHECK((random.forward == 0 && random.backward == 0 && random.examples == 0));
}

TEST_CASE("a value that is not finite is an error that names the head and the example", "[score]") {
  for (const Kind kind : kFamilies) {
    for (const Definition& definition : definitions()) {
      if (!definition.looks_at_model) continue;
      CAPTURE(to_string(kind), definition.yaml);
      Subject subject = make_subject(kind, torch::kFloat32);
      // Token 10 is given to example 4 alone, and its vector is not a number.
      for (Example& example : subject.examples)
        for (auto* tokens : {&example.tokens, &example.decoder_tokens})
          std::replace(tokens->begin(), tokens->end(), int64_t{10}, int64_t{9});
      subject.examples[4].tokens[1] = 10;
      {
        const torch::NoGradGuard guard;
        bool found = false;
        for (const auto& entry : subject.model->named_parameters())
          if (entry.value().dim() == 2 && entry.value().size(0) == 11 && !found) {
            entry.value()[10].fill_(std::numeric_limits<float>::quiet_NaN());
            found = true;
          }
        REQUIRE(found);
      }
      std::string message;
      try {
        score(definition.yaml, subject);
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::run_failed);
        message = error.what();
      }
      CHECK_THAT(message, ContainsSubstring("example 4 of the score split"));
      bool looks_at_loss = false;
      for (const char* name : {"gradient_l1", "fisher", "ablation", "shapley"})
        looks_at_loss |= definition.yaml.find(name) != std::string::npos;
      const std::string first = to_string(subject.model->blocks().front().id);
      if (!looks_at_loss)
        CHECK_THAT(message, ContainsSubstring("head " + first + ".H0") || ContainsSubstring("group " + first + ".G0"));
    }
  }
}

// docs/definitions.md "What must hold", 5, on a model whose needed heads are planted: what the others write is nearly
// nothing.
TEST_CASE("planted heads rank first, and the others can go without a changed prediction", "[score]") {
  const std::vector<HeadId> planted_in[] = {{{{Kind::encoder, 0}, 2}, {{Kind::encoder, 1}, 0}},
                                            {{{Kind::decoder, 0}, 1}, {{Kind::decoder, 1}, 2}},
                                            {{{Kind::cross, 0}, 0}, {{Kind::encoder, 0}, 1}, {{Kind::decoder, 1}, 2}}};
  for (const std::vector<HeadId>& planted : planted_in) {
    const Subject subject = make_subject(planted.front().block.kind, torch::kFloat64);
    const Blocks blocks = subject.model->blocks();
    HeadSet rest;
    for (const HeadId& head : all_heads(blocks))
      if (std::find(planted.begin(), planted.end(), head) == planted.end()) rest.insert(head);
    {
      const torch::NoGradGuard no_grad;
      for (size_t b = 0; b < blocks.size(); ++b) {
        Attention& attention = subject.model->attention(b);
        for (const int64_t head : rest.in_block(blocks[b].id))
          attention.output().weight.narrow(1, head * attention.value_width(), attention.value_width()).mul_(1e-3);
      }
    }
    for (const char* yaml : {"{gradient_l1: {normalize: none}}", "output_l2", "fisher"}) {
      CAPTURE(yaml);
      const Importance found = score(yaml, subject);
      double least_planted = 1e300, most_other = 0;
      for (const HeadId& head : planted) least_planted = std::min(least_planted, value_of(found, blocks, head));
      for (const HeadId& head : rest.heads()) most_other = std::max(most_other, value_of(found, blocks, head));
      CHECK(most_other > 0);
      CHECK(least_planted > 10 * most_other);
    }
    const torch::NoGradGuard no_grad;
    subject.model->eval();
    for (const Batch& batch : batches_of(subject.examples, 64)) {
      HeadProbe probe;
      probe.gates = mask_gates(blocks, rest, torch::kCPU);
      for (torch::Tensor& gates : probe.gates) gates = gates.to(torch::kFloat64);
      const torch::Tensor whole = subject.model->forward(batch).values,
                          pruned = subject.model->forward(batch, probe).values;
      CHECK(torch::equal(whole.argmax(-1), pruned.argmax(-1)));
      CHECK_FALSE(torch::equal(whole, pruned));
    }
  }
}
