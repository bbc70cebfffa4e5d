#include "config/problems.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

TEST_CASE("exactly the scores of this program are registered, each with a summary", "[score]") {
  const auto& registry = Registry<ScoreMethod>::instance();
  CHECK(registry.names() == std::vector<std::string>{"ablation", "confidence", "entropy", "first_token", "fisher",
                                                     "gradient_l1", "magnitude", "output_l2", "output_norm_ratio",
                                                     "random", "redundancy", "shapley"});
  CHECK(registry.duplicates().empty());
  for (const std::string& name : registry.names()) CHECK_FALSE(registry.summary(name).empty());
}

TEST_CASE("every registered score is among the definitions that the property tests walk", "[score]") {
  for (const std::string& name : Registry<ScoreMethod>::instance().names()) {
    CAPTURE(name);
    bool found = false;
    for (const Definition& definition : definitions())
      found |= definition.yaml == name || definition.yaml.find(name + ":") != std::string::npos;
    CHECK(found);
  }
}

TEST_CASE("defaults and directions are those of docs/definitions.md", "[score]") {
  CHECK(make_score("gradient_l1")->normalize() == Normalize::layer_l2);
  CHECK(make_score("gradient_l1")->keep() == Keep::large);
  CHECK(make_score("output_l2")->normalize() == Normalize::none);
  CHECK(make_score("entropy")->keep() == Keep::small);
  CHECK(make_score("{entropy: {keep: diffuse}}")->keep() == Keep::large);
  CHECK(make_score("random")->draws() == 5);
  CHECK_FALSE(make_score("random")->needs().data);
  CHECK(make_score("{gradient_l1: {preset: textpruner}}")->normalize() == Normalize::none);
  CHECK(make_score("{gradient_l1: {preset: michel_code}}")->normalize() == Normalize::layer_l2);
}

TEST_CASE("gate gradients alone ask for no other gradient", "[score]") {
  const Needs needs = make_score("gradient_l1")->needs();
  CHECK(needs.gate_gradients);
  CHECK_FALSE(needs.context_gradients);
  CHECK_FALSE(needs.weight_gradients);
  CHECK_FALSE(needs.contexts);
  CHECK_FALSE(needs.attention_weights);
}

TEST_CASE("impossible combinations of options are configuration errors", "[score]") {
  const auto message = [](const std::string& yaml) {
    try {
      make_score(yaml);
    } catch (const ConfigError& error) {
      CHECK(error.code() == ExitCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message("{gradient_l1: {preset: michel_code, absolute: example}}"),
             ContainsSubstring("preset michel_code sets absolute: token"));
  CHECK_THAT(message("{gradient_l1: {preset: textpruner, normalize: layer_l2}}"),
             ContainsSubstring("preset textpruner sets normalize: none"));
  CHECK_THAT(message("{gradient_l1: {preset: paper, of: weights}}"), ContainsSubstring("preset paper sets of: gate"));
  CHECK_THAT(message("{gradient_l1: {of: weights, absolute: token}}"),
             ContainsSubstring("absolute: token is defined for of: gate only"));
  CHECK_THAT(message("{gradient_l1: {absolute: sum}}"), ContainsSubstring("example"));
  CHECK_THAT(message("{random: {draws: 0}}"), ContainsSubstring("draws"));
  // What agrees with a preset may be said again.
  CHECK(message("{gradient_l1: {preset: michel_code, absolute: token, normalize: layer_l2, of: gate}}").empty());
}
