#include "config/one_or_list.h"

#include "config/dump.h"
#include "config/load.h"
#include "support/catch.h"
#include "zoo.h"

namespace headprune {

using Methods = OneOrList<PluginItem<zoo::Method>>;

template <>
inline Value bind_value<Methods>(Methods& member) {
  return std::make_shared<detail::BoundOneOrList<PluginItem<zoo::Method>>>(member);
}

namespace {

struct Layers {
  Methods layers;
  template <class V>
  void fields(V& v) {
    v("layers", layers, "one for all, or one for each");
  }
};

Layers layers_of(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return load_config<Layers>(ConfigText{.name = "t.yaml", .text = yaml + "\n", .folder = {}}, overrides).value;
}

std::string layers_problem(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    layers_of(yaml, overrides);
  } catch (const ConfigError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics().front().path + ": " + error.diagnostics().front().message;
  }
  return "";
}

}  // namespace

TEST_CASE("one entry may stand for a list of one, and entries may be alike", "[config]") {
  CHECK(layers_of("{}").layers.empty());
  for (const char* yaml : {"layers: random", "layers: [random]", "layers: {random: {}}"}) {
    INFO(yaml);
    const Layers loaded = layers_of(yaml);
    REQUIRE(loaded.layers.size() == 1);
    CHECK(loaded.layers[0].type == "random");
    CHECK(loaded.layers[0].make()->draws() == 5);
  }
  const Layers alike = layers_of("layers: [random, {random: {draws: 3}}, random]");
  REQUIRE(alike.layers.size() == 3);
  CHECK(alike.layers[1].make()->draws() == 3);
  // What is printed is read again.
  CHECK(config_json(layers_of(config_yaml(alike))) == config_json(alike));
}

TEST_CASE("overrides reach into one entry by its name, and into several by number", "[config]") {
  CHECK(layers_of("layers: {random: {draws: 3}}", {"layers.random.draws=7"}).layers[0].make()->draws() == 7);
  CHECK(layers_of("layers: {random: {draws: 3}}", {"layers.0.random.draws=7"}).layers[0].make()->draws() == 7);
  CHECK(layers_of("layers: [random, random]", {"layers.1.random.draws=7"}).layers[1].make()->draws() == 7);
  CHECK(layers_of("layers: [random, random]", {"layers={random: {draws: 2}}"}).layers.size() == 1);
  CHECK(layers_problem("layers: [random, random]", {"layers.random.draws=7"}) ==
        "layers.random: entries of lists are chosen by number, from layers.0 on");
  CHECK_THAT(layers_problem("layers: randum"), ContainsSubstring("did you mean 'random'?"));
  CHECK(layers_problem("layers:") == "layers: needs a value; an empty list is []");
}

TEST_CASE("editors and people are told of both forms", "[config]") {
  const Json schema = config_schema<Layers>()["properties"]["layers"];
  REQUIRE(schema["anyOf"].size() == 2);
  CHECK(schema["anyOf"][1]["type"] == "array");
  CHECK(schema["anyOf"][1]["items"] == schema["anyOf"][0]);
}

}  // namespace headprune
