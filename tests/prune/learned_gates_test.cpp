// Gates that are learnt, against numpy written from the papers (tests/golden/make_learned_gates.py).
#include "core/files.h"
#include "core/open_file.h"
#include "prune/hard_concrete_gates.h"
#include "prune/logit_gates.h"
#include "prune/top_k_gates.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

const Json& golden(const char* part) {
  static const Json all = read_json(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/learned_gates.json");
  return all.at(part);
}

torch::Tensor vector_of(const Json& numbers) {
  return torch::tensor(numbers.get<std::vector<double>>(), torch::kFloat64);
}

void check_close(const torch::Tensor& found, const Json& wanted, double tolerance) {
  const torch::Tensor numbers = vector_of(wanted);
  INFO(found << "\n" << numbers);
  CHECK(torch::allclose(found.detach(), numbers, tolerance, tolerance));
}

/// Four heads of the encoder in two blocks, and two of the decoder, which share keys and values.
Blocks two_kinds() {
  Blocks blocks = encoder_blocks({2, 2});
  blocks.push_back({{Kind::decoder, 0}, {0, 1, 2, 3}, 2});
  return blocks;
}

GateOptions of_kinds(std::vector<Kind> kinds, HeadUnit unit = HeadUnit::query) {
  GateOptions options;
  options.kinds = std::move(kinds);
  options.unit = unit;
  return options;
}

}  // namespace

TEST_CASE("hard-concrete gates, their penalty and their gradients are numpy's", "[prune]") {
  const Json& wanted = golden("hard_concrete");
  const torch::Tensor log_alpha = vector_of(wanted.at("log_alpha")).requires_grad_();
  const torch::Tensor gates = HardConcreteGates::sample(log_alpha, vector_of(wanted.at("u")));
  check_close(gates, wanted.at("gates"), 1e-10);
  (vector_of(wanted.at("weights")) * gates).sum().backward();
  check_close(log_alpha.grad(), wanted.at("gate_slopes"), 1e-6);

  const GateUnits units(of_kinds({}), two_kinds());
  REQUIRE(units.count() == 8);
  HardConcreteGates source(units, {.log_alpha = 0, .lambdas = vector_of(wanted.at("lambdas")), .seed = 1});
  torch::Tensor parameter = source.parameters().at("log_alpha");
  {
    const torch::NoGradGuard no_gradients;
    parameter.copy_(vector_of(wanted.at("log_alpha")));
  }
  check_close(source.open_probability(), wanted.at("open_probability"), 1e-10);
  CHECK(std::abs(source.penalty().item<double>() - wanted.at("penalty").get<double>()) < 1e-10);
  source.penalty().backward();
  check_close(parameter.grad(), wanted.at("penalty_slopes"), 1e-6);
  for (int64_t i = 0; i < units.count(); ++i) {
    const size_t at = static_cast<size_t>(i);
    INFO(i);
    CHECK(source.closed()[i].item<bool>() ==
          (wanted.at("closed_share")[at].get<double>() > wanted.at("one_share")[at].get<double>()));
  }
}

TEST_CASE("hard-concrete noise is another at every step, and the same for one step", "[prune]") {
  const GateUnits units(of_kinds({}), two_kinds());
  const HardConcreteGates::Start start{.log_alpha = 0, .lambdas = torch::ones({8}), .seed = 1};
  HardConcreteGates source(units, start), again(units, start);
  const auto all = [](const PerBlock& gates) { return torch::cat(gates); };
  const torch::Tensor third = all(source.gates(3));
  CHECK_FALSE(torch::equal(third, all(source.gates(4))));
  CHECK(torch::equal(third, all(again.gates(3))));
  // Over many steps a gate is 0 as often as its distribution says: 0.4103 at log alpha 0 by P(0) = sigmoid(-0.7913).
  torch::Tensor closed = torch::zeros({8});
  constexpr int kSteps = 4000;
  for (int step = 0; step < kSteps; ++step) closed += (all(source.gates(step)) == 0).to(torch::kFloat32);
  const double share = (closed.mean() / kSteps).item<double>();
  CHECK(std::abs(share - 1 / (1 + std::exp(0.33 * std::log(11.0)))) < 0.01);
}

TEST_CASE("soft top-k gates are numpy's and add up to k at every temperature", "[prune]") {
  const Json& wanted = golden("top_k");
  for (const Json& one : wanted.at("cases")) {
    const auto k = one.at("k").get<int64_t>();
    const auto temperature = one.at("temperature").get<double>();
    INFO(k << " at " << temperature);
    const torch::Tensor r = vector_of(wanted.at("r")).requires_grad_();
    const torch::Tensor gates = TopKGates::soft_top_k(r, k, temperature);
    check_close(gates, one.at("gates"), 1e-9);
    CHECK(std::abs(gates.sum().item<double>() - static_cast<double>(k)) < 1e-9);
    (vector_of(wanted.at("weights")) * gates).sum().backward();
    CHECK(r.grad().isfinite().all().item<bool>());
    if (one.contains("slopes")) check_close(r.grad(), one.at("slopes"), 1e-5);
  }
}

TEST_CASE("the temperature falls log-linearly, and at its end gates choose k heads", "[prune]") {
  const GateUnits units(of_kinds({}), two_kinds());
  TopKGates source(units, {.k = 3, .steps = 5, .seed = 2});
  CHECK(std::abs(source.temperature(0) / 1000 - 1) < 1e-12);
  CHECK(std::abs(source.temperature(2) / std::sqrt(1000 * 1e-8) - 1) < 1e-12);
  CHECK(std::abs(source.temperature(4) / 1e-8 - 1) < 1e-12);
  const torch::Tensor last = torch::cat(source.gates(4));
  CHECK(((last == 0) | (last == 1)).all().item<bool>());
  CHECK(last.sum().item<double>() == 3);
  TopKGates hard(units, {.k = 3, .steps = 5, .straight_through = true, .seed = 2});
  const torch::Tensor first = torch::cat(hard.gates(0));
  CHECK(torch::allclose(std::get<0>(first.sort()), torch::tensor({0.F, 0.F, 0.F, 0.F, 0.F, 1.F, 1.F, 1.F})));
  first[0].backward();
  CHECK(hard.parameters().at("weight").grad().abs().sum().item<double>() > 0);
}

TEST_CASE("logit gates are drawn to one side and stay within their clamp", "[prune]") {
  const GateUnits units(of_kinds({}), two_kinds());
  LogitGates source(units, {.logits = torch::linspace(-5, 5, 8, torch::kFloat64), .pull = 0.5, .clamp = 4});
  const torch::Tensor logit = source.parameters().at("logit");
  CHECK(std::abs(source.penalty().item<double>()) < 1e-12);  // the mean of the logits is 0
  source.penalty().backward();
  CHECK(torch::allclose(logit.grad(), torch::full({8}, -0.5 / 8, torch::kFloat64)));  // going down raises logits
  source.confine();
  CHECK(logit.min().item<double>() == -4);
  CHECK(logit.max().item<double>() == 4);
  CHECK(torch::allclose(torch::cat(source.gates(0)), torch::sigmoid(logit).to(torch::kFloat32)));
}

TEST_CASE("gates stand for the heads of their kinds, or for groups", "[prune]") {
  const GateUnits encoder(of_kinds({Kind::encoder}), two_kinds());
  REQUIRE(encoder.count() == 4);
  const PerBlock gates = encoder.of_heads(torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kFloat64));
  CHECK(torch::equal(gates[1], torch::tensor({3.0, 4.0}, torch::kFloat64)));
  CHECK_FALSE(gates[2].defined());
  CHECK(names(encoder.heads_at(torch::tensor({false, true, true, false}))) ==
        std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H0"});

  const Blocks decoder = {{{Kind::decoder, 0}, {0, 1, 2, 3}, 2}};
  const GateUnits groups(of_kinds({}, HeadUnit::group), decoder);
  REQUIRE(groups.count() == 2);
  const torch::Tensor two = torch::tensor({0.25, 0.5}, torch::dtype(torch::kFloat64).requires_grad(true));
  const PerBlock of_groups = groups.of_heads(two);
  CHECK(torch::equal(of_groups[0], torch::tensor({0.25, 0.25, 0.5, 0.5}, torch::kFloat64)));
  of_groups[0].sum().backward();
  CHECK(torch::equal(two.grad(), torch::tensor({2.0, 2.0}, torch::kFloat64)));  // a group's gradient is its heads' sum
  CHECK(names(groups.heads_at(torch::tensor({false, true}))) ==
        std::vector<std::string>{"decoder.L0.H2", "decoder.L0.H3"});
  CHECK_THROWS(GateUnits(of_kinds({Kind::cross}), two_kinds()));
}

TEST_CASE("heads that may not go have no gate", "[prune]") {
  const HeadSet fixed({encoder_head(0, 1)});
  const GateUnits units(of_kinds({Kind::encoder}), two_kinds(), fixed);
  REQUIRE(units.count() == 3);
  const torch::Tensor three = torch::tensor({0.25, 0.5, 0.75}, torch::dtype(torch::kFloat64).requires_grad(true));
  const PerBlock gates = units.of_heads(three);
  CHECK(torch::equal(gates[0], torch::tensor({0.25, 1.0}, torch::kFloat64)));
  CHECK(torch::equal(gates[1], torch::tensor({0.5, 0.75}, torch::kFloat64)));
  torch::cat({gates[0], gates[1]}).sum().backward();
  CHECK(torch::equal(three.grad(), torch::ones({3}, torch::kFloat64)));
  CHECK(torch::equal(units.of_blocks(three)[0], torch::tensor({0.25, 0.0}, torch::kFloat64)));
  CHECK(units.heads_at(torch::ones({3}, torch::kBool)).size() == 3);
  const LearnedHeads found = learned_heads(units, "x", {{"gate", three}});
  CHECK(std::isnan(found.blocks[0].column("gate")->values[1]));
  CHECK(found.blocks[1].column("gate")->values[1] == 0.75);
}
