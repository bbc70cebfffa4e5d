// Rules that learn gates: what they ask of the host, and the masks that they make of what was learnt.
#include "prune/hard_concrete_gates.h"
#include "prune/top_k_gates.h"
#include "support.h"
#include "support/error_of.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Stands for a training: puts these numbers into the one parameter of the gates, another set for each name.
struct Learner {
  std::map<std::string, std::vector<double>> values;  // by the last part of the name
  void operator()(GateSource& source, const GateLearning& how) const {
    const torch::NoGradGuard no_gradients;
    NamedTensors parameters = source.parameters();
    REQUIRE(parameters.size() == 1);
    const std::string last = how.name.substr(how.name.rfind('/') + 1);
    parameters.begin()->second.copy_(torch::tensor(values.at(last), torch::kFloat64));
  }
};

struct Sweep {
  HeadsOnly model{encoder_blocks({2, 2})};
  NotingHost host{encoder_blocks({2, 2}), no_scores};
  std::string name;
  std::shared_ptr<const PruneRule> rule;
  Sweep(const std::string& rule_name, const std::string& options, Learner learner)
      : name(rule_name), rule(make_rule("{" + rule_name + ": {" + options + "}}")) {
    host.learn = std::move(learner);
  }
  void go() { run(*rule, sweep_input(name, name, model, {}), model, host); }
};

}  // namespace

TEST_CASE("hard_concrete gives each lambda a point of the heads whose gates are open", "[prune]") {
  Sweep sweep("hard_concrete", "lambdas: [0.1, 0.5, 2], steps: 30",
              {{{"lambda_0.1", {1, 1, 1, 1}}, {"lambda_0.5", {2, -1, 0.1, -3}}, {"lambda_2", {-1, -1, 0, -1}}}});
  sweep.go();
  REQUIRE(sweep.host.points.size() == 3);
  CHECK(sweep.host.calls == std::vector<std::string>{"learn hard_concrete/lambda_0.1 30", "warn lambda_without_choice",
                                                     "learn hard_concrete/lambda_0.5 30",
                                                     "learn hard_concrete/lambda_2 30", "warn lambda_without_choice"});
  const PlannedPoint& middle = sweep.host.points[1];
  CHECK(names(middle.removed) == std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H1"});
  CHECK(middle.spec.heads_removed == 2);
  CHECK(middle.fraction == 0.5);
  CHECK(middle.spec.name == "lambda_0.5");
  CHECK(middle.spec.lambda == 0.5);
  CHECK(middle.forward == 30);
  CHECK_FALSE(middle.fine_tuned);
  CHECK(sweep.host.points[2].spec.heads_removed == 4);  // 0 is not above 0
  REQUIRE(sweep.host.learned.size() == 3);
  CHECK(sweep.host.learned[1].done.analysis == "hard_concrete.lambda_0.5");
  const AnalysisColumn* open = sweep.host.learned[1].blocks[1].column("open_probability");
  REQUIRE(open != nullptr);
  CHECK(std::abs(open->values[0] - 1 / (1 + std::exp(-0.1 + 0.33 * std::log(0.1 / 1.1)))) < 1e-12);
}

TEST_CASE("how many heads a lambda closes is no part of what its point is", "[prune]") {
  Sweep sweep("hard_concrete", "lambdas: [0.5], steps: 3", {{{"lambda_0.5", {2, -1, 1, 1}}}});
  const PointSpec planned =
      headprune::test::planned(*sweep.rule, sweep_input("hard_concrete", "hard_concrete", sweep.model, {}))[0].spec;
  sweep.go();
  const PointSpec& done = sweep.host.points.at(0).spec;
  CHECK(done.heads_removed == 1);
  CHECK(planned.heads_removed == 0);
  CHECK(point_id("experiment", planned) == point_id("experiment", done));
  CHECK(PointSpec::from_json(done.to_json()) == done);
  sweep.host.calls.clear();
  sweep.go();
  CHECK(sweep.host.calls.empty());  // what is there is not learnt again
}

TEST_CASE("kind_weights scale the penalty by kind of attention", "[prune]") {
  Blocks blocks = encoder_blocks({1});
  blocks.push_back({{Kind::decoder, 0}, {0}});
  blocks.push_back({{Kind::cross, 0}, {0}});
  HeadsOnly model(blocks);
  NotingHost host(blocks, no_scores);
  std::vector<double> penalties;
  host.learn = [&](GateSource& source, const GateLearning&) {
    const torch::Tensor parameter = source.parameters().begin()->second;
    source.penalty().backward();
    const torch::Tensor slope = parameter.grad() / parameter.grad()[0];
    for (int64_t i = 0; i < 3; ++i) penalties.push_back(slope[i].item<double>());
  };
  const auto rule = make_rule("{hard_concrete: {lambdas: [0.5], kind_weights: {decoder: 3, cross: 0}}}");
  run(*rule, sweep_input("g", "hard_concrete", model, {}), model, host);
  REQUIRE(penalties.size() == 3);
  CHECK(std::abs(penalties[1] - 3) < 1e-12);
  CHECK(penalties[2] == 0);
}

TEST_CASE("top_k leaves exactly k heads, and learns nothing where there is nothing to choose", "[prune]") {
  Sweep sweep("top_k", "fractions: [0, 0.25, 0.5, 1], steps: 20, train_weights: true",
              {{{"k_3", {0.5, 2, 1, 3}}, {"k_2", {0.5, 2, 1, 1}}}});
  sweep.go();
  CHECK(sweep.host.calls ==
        std::vector<std::string>{"learn top_k/k_3 20 with weights", "learn top_k/k_2 20 with weights"});
  REQUIRE(sweep.host.points.size() == 4);
  CHECK(sweep.host.points[0].removed.empty());
  CHECK_FALSE(sweep.host.points[0].fine_tuned);
  CHECK(names(sweep.host.points[1].removed) == std::vector<std::string>{"encoder.L0.H0"});
  CHECK(sweep.host.points[1].fine_tuned);
  CHECK(names(sweep.host.points[2].removed) ==
        std::vector<std::string>{"encoder.L0.H0", "encoder.L1.H0"});  // ties go in the order of heads
  CHECK(sweep.host.points[3].removed.size() == 4);
  CHECK(sweep.model.steps_trained == 0);  // the intact model is left alone
  CHECK(sweep.host.trained_at_point == std::vector<int64_t>{0, 20, 20, 0});
}

TEST_CASE("retention_removal ranks heads that hurt first and heads that are needed last", "[prune]") {
  // Head by head: needed, irrelevant, harmful, needed a little less.
  Sweep sweep("retention_removal", "fractions: [0.25, 0.5, 0.75], steps: 10",
              {{{"fit", {1, 0, 0, 1}}, {"retention", {4, 4, -4, 4}}, {"removal", {4, -4, -4, 3}}}});
  sweep.go();
  CHECK(sweep.host.calls == std::vector<std::string>{"learn retention_removal/fit 10",
                                                     "learn retention_removal/retention 10",
                                                     "learn retention_removal/removal 10"});
  REQUIRE(sweep.host.points.size() == 3);
  CHECK(names(sweep.host.points[0].removed) == std::vector<std::string>{"encoder.L1.H0"});
  CHECK(names(sweep.host.points[1].removed) == std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H0"});
  CHECK(names(sweep.host.points[2].removed) ==
        std::vector<std::string>{"encoder.L0.H1", "encoder.L1.H0", "encoder.L1.H1"});
  CHECK(sweep.host.points[2].forward == 30);
  REQUIRE(sweep.host.learned.size() == 1);
  std::vector<std::string> roles;
  for (const RoleFact& fact : sweep.host.learned[0].done.roles) roles.push_back(to_string(fact.head) + " " + fact.role);
  CHECK(roles == std::vector<std::string>{"encoder.L0.H0 facilitating", "encoder.L0.H1 irrelevant",
                                          "encoder.L1.H0 interfering", "encoder.L1.H1 facilitating"});
}

TEST_CASE("the fits of retention_removal go on from the first one, drawn to either side", "[prune]") {
  Sweep sweep("retention_removal", "fractions: [0.5], lambda: 0.2", {});
  std::vector<double> starts, pulls;
  sweep.host.learn = [&](GateSource& source, const GateLearning& how) {
    torch::Tensor logit = source.parameters().at("logit");
    starts.push_back(logit[0].item<double>());
    source.penalty().backward();
    pulls.push_back(4 * logit.grad()[0].item<double>());
    const torch::NoGradGuard no_gradients;
    if (how.name == "retention_removal/fit") logit.fill_(1.5);
  };
  sweep.go();
  CHECK(starts == std::vector<double>{0, 1.5, 1.5});
  REQUIRE(pulls.size() == 3);
  CHECK(pulls[0] == 0);
  CHECK(std::abs(pulls[1] + 0.2) < 1e-12);
  CHECK(std::abs(pulls[2] - 0.2) < 1e-12);
}

TEST_CASE("options of learned gates that make no sense are refused", "[prune]") {
  CHECK_THROWS(make_rule("{hard_concrete: {lambdas: [0.1, 0.1]}}"));
  CHECK_THROWS(make_rule("{hard_concrete: {}}"));
  CHECK_THROWS(make_rule("{hard_concrete: {lambdas: [-1]}}"));
  CHECK_THROWS(make_rule("{hard_concrete: {lambdas: [1], keep_weights: all}}"));
  CHECK_THROWS(make_rule("{top_k: {temperature: [1, 2]}}"));
  CHECK_THROWS(make_rule("{top_k: {temperature: [1]}}"));
  CHECK_THROWS(make_rule("{retention_removal: {train_weights: true}}"));
}

TEST_CASE("gates keep to the heads that a rule may touch", "[prune]") {
  Sweep sweep("top_k", "fractions: [0.34, 1], steps: 5, protect: [encoder.L0.H1]", {{{"k_2", {0.5, 2, 1}}}});
  sweep.go();
  REQUIRE(sweep.host.points.size() == 2);
  CHECK(names(sweep.host.points[0].removed) == std::vector<std::string>{"encoder.L0.H0"});
  CHECK(sweep.host.points[0].heads_total == 3);
  CHECK(names(sweep.host.points[1].removed) ==
        std::vector<std::string>{"encoder.L0.H0", "encoder.L1.H0", "encoder.L1.H1"});
  Sweep fits("retention_removal", "fractions: [1], steps: 5, only: [encoder.L1]",
             {{{"fit", {0, 0}}, {"retention", {4, -4}}, {"removal", {4, -4}}}});
  fits.go();
  CHECK(names(fits.host.points.at(0).removed) == std::vector<std::string>{"encoder.L1.H0", "encoder.L1.H1"});
  CHECK(fits.host.learned.at(0).done.roles.size() == 2);
}
