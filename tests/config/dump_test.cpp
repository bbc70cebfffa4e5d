// Views of a configuration: JSON, YAML, schema, reference, differences.
#include "config/dump.h"

#include "support/catch.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

const std::string kFull =
    "name: \"a: b # c\"\nseeds: [3, 4]\ndata: {type: tsv, path: zoo.h, header: false}\n"
    "train: {learning_rate: 1e-5, max_steps: 7, lr_scheduler_type: cosine, x-why: [1, \"2\"], "
    "freeze: [\"\", \"null\", \"1\", \"-x\", \"a b\", \"$${env:X}\", \"$$${\", \"quote \\\" back \\\\\", "
    "\"\\u00e9\\n\", \"yes\"]}\n"
    "score: {methods: [entropy, {random: {draws: 7, label: seven}}, {random: {x-in: y}}, {gradient: {normalize: "
    "none}}]}\n"
    "surgery: {timing: {batch_sizes: [2]}}\ntimings: [{repeats: 2}, {}]\nbaseline: zoo.h\noutput: /tmp/o\nx-top: "
    "hello\n";

struct Small {
  std::optional<int64_t> limit = 5;
  template <class V>
  void fields(V& v) {
    v("limit", limit, "at most so many");
  }
};

}  // namespace

TEST_CASE("the effective configuration as JSON has every key in declared order, without empty optionals", "[config]") {
  const Json json = config_json(load_text(kSmall, {"output=/o"}).value);
  CHECK(
      dump_json(json) ==
      R"({"name":"small","seeds":[1],"data":{"type":"synthetic","examples":100,"pattern":"copy","fractions":[0.8,0.1,0.1]},)"
      R"("model":{"d_model":64,"heads":4},"train":{"num_train_epochs":3,"learning_rate":1e-05,"warmup_ratio":0.0,)"
      R"("lr_scheduler_type":"linear","shuffle":true,"freeze":[]},"score":{"methods":[{"gradient":{"normalize":"layer_l2",)"
      R"("only_layers":[]}},{"random":{"draws":5}}],"batch_size":32},"timings":[],"output":"/o"})");
}

TEST_CASE("paths in the JSON can be replaced", "[config]") {
  const auto loaded = load_text(kFull);
  const Json json =
      config_json(loaded.value, [](const std::filesystem::path& path) { return "<" + path.filename().string() + ">"; });
  CHECK(json.at("data").at("path") == "<zoo.h>");
  CHECK(json.at("baseline") == "<zoo.h>");
  CHECK(json.at("output") == "<o>");
}

TEST_CASE("a label stands in the JSON where it is not the name", "[config]") {
  const Json methods = config_json(load_text(kFull).value).at("score").at("methods");
  CHECK(dump_json(methods.at(1)) == R"({"random":{"label":"seven","draws":7}})");
  CHECK(dump_json(methods.at(2)) == R"({"random":{"draws":5}})");
}

TEST_CASE("the YAML of a configuration reads back to the same configuration in every style", "[config]") {
  for (const std::string& text : {kFull, kSmall}) {
    const auto loaded = load_text(text);
    const Json json = config_json(loaded.value);
    for (const bool help : {true, false})
      for (const bool defaults : {true, false})
        for (const Origins* origins : {static_cast<const Origins*>(nullptr), &loaded.origins}) {
          const std::string yaml = config_yaml(
              loaded.value, {.help = help, .defaults = defaults, .origins = origins, .extras = &loaded.extras});
          INFO(yaml);
          const auto again = load_text(yaml);
          CHECK(dump_json(config_json(again.value)) == dump_json(json));
          CHECK(again.extras == loaded.extras);
          CHECK(again.environment.empty());
        }
  }
}

TEST_CASE("the YAML without defaults has what was set, with origins where asked", "[config]") {
  const auto loaded = load_text(kSmall + "train: {learning_rate: 0.00001, warmup_ratio: 0.5}\n", {"model.heads=8"});
  CHECK(config_yaml(loaded.value, {.help = false, .defaults = false, .origins = &loaded.origins}) ==
        "schema_version: 1\n"
        "name: small  # [f.yaml:1:7]\n"
        "\n"
        "data:  # [f.yaml:2:1]\n"
        "  type: synthetic  # [f.yaml:2:14]\n"
        "\n"
        "model:  # [override:1:1]\n"
        "  heads: 8  # [override:1:13]\n"
        "\n"
        "train:  # [f.yaml:3:1]\n"
        "  warmup_ratio: 0.5  # [f.yaml:3:47]\n" +
            ("output: " + (std::filesystem::current_path() / "runs").string() + "  # [default]\n"));
}

TEST_CASE("the YAML without defaults has only the changed keys of an optional section that is set", "[config]") {
  const auto yaml = [](const std::string& surgery) {
    return config_yaml(load_text(kSmall + surgery, {"output=/o"}).value, {.help = false, .defaults = false});
  };
  const std::string head = "schema_version: 1\nname: small\n\ndata:\n  type: synthetic\n";
  CHECK(yaml("surgery: {timing: {repeats: 3}}\n") == head + "\nsurgery:\n  timing:\n    repeats: 3\noutput: /o\n");
  CHECK(yaml("surgery: {}\n") == head + "surgery: {}\noutput: /o\n");
}

TEST_CASE("the YAML with help explains each key", "[config]") {
  const std::string yaml = config_yaml(load_text(kSmall).value);
  CHECK_THAT(yaml, ContainsSubstring("\ntrain:  # training\n  num_train_epochs: 3  # passes over the data\n"
                                     "  learning_rate: 1.0e-05  # peak learning rate\n"));
  CHECK_THAT(yaml, ContainsSubstring("  max_steps: null  # stop after so many steps\n"));
  CHECK_THAT(yaml, ContainsSubstring("    - random:\n        draws: 5  # how many independent draws\n"));
}

TEST_CASE("a value that was emptied stays empty in the YAML", "[config]") {
  Small none;
  none.limit.reset();
  const std::string yaml = config_yaml(none, {.help = false, .defaults = false});
  CHECK(yaml == "schema_version: 1\nlimit: null\n");
  CHECK_FALSE(load_config<Small>(ConfigText{"t", yaml, "."}).value.limit.has_value());
}

TEST_CASE("one line of YAML: numbers keep their point, text is quoted where needed", "[config]") {
  CHECK(yaml_inline(1e-5) == "1.0e-05");
  CHECK(yaml_inline(1e20) == "1.0e+20");
  CHECK(yaml_inline(0.1) == "0.1");
  CHECK(yaml_inline(5.0) == "5.0");
  CHECK(yaml_inline(5) == "5");
  CHECK(yaml_inline("gradient_l1") == "gradient_l1");
  CHECK(yaml_inline("/a/b-c.txt") == "/a/b-c.txt");
  for (const char* quoted : {"", "yes", "Null", "1", "1e3", ".5", "-a", "a: b", "a #b", "[x]", "~", "a,b", "a "})
    CHECK(yaml_inline(quoted) == "\"" + std::string(quoted) + "\"");
  CHECK(yaml_inline("${env:X}") == "\"$${env:X}\"");
  CHECK(yaml_inline(Json({1, "a b", {{"k", true}}})) == R"([1, "a b", {k: true}])");
}

TEST_CASE("the schema has types, ranges, choices, defaults, required keys and no others", "[config]") {
  const Json schema = config_schema<Experiment>();
  CHECK(schema.at("$schema") == "http://json-schema.org/draft-07/schema#");
  CHECK(schema.at("additionalProperties") == false);
  CHECK(schema.at("patternProperties").contains("^x-"));
  CHECK(schema.at("then").at("required") == Json::array({"name"}));
  CHECK(schema.at("if").at("not").at("required") == Json::array({"extends"}));
  const Json& train = schema.at("properties").at("train");
  CHECK(train.at("additionalProperties") == false);
  CHECK(dump_json(train.at("properties").at("num_train_epochs")) ==
        R"({"type":"integer","minimum":1,"description":"passes over the data","default":3})");
  CHECK(dump_json(train.at("properties").at("learning_rate")) ==
        R"({"type":"number","exclusiveMinimum":0,"description":"peak learning rate","default":1e-05})");
  CHECK(dump_json(train.at("properties").at("lr_scheduler_type")) ==
        R"({"enum":["constant","linear","cosine"],"description":"shape of the learning rate","default":"linear"})");
  CHECK(dump_json(train.at("properties").at("max_steps")) ==
        R"({"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"description":"stop after so many steps"})");
  CHECK(
      dump_json(schema.at("properties").at("seeds")) ==
      R"({"type":"array","items":{"type":"integer","minimum":0},"minItems":1,"description":"each seed is one repetition","default":[1]})");
}

TEST_CASE("the schema describes plug-ins by their type", "[config]") {
  const Json schema = config_schema<Experiment>();
  const Json& data = schema.at("properties").at("data");
  CHECK(data.at("required") == Json::array({"type"}));
  CHECK(data.at("properties").at("type").at("enum") == Json::array({"synthetic", "tsv"}));
  REQUIRE(data.at("allOf").size() == 2);
  const Json& tsv = data.at("allOf").at(1);
  CHECK(dump_json(tsv.at("if")) == R"({"properties":{"type":{"const":"tsv"}},"required":["type"]})");
  CHECK(tsv.at("then").at("required") == Json::array({"path"}));
  CHECK(tsv.at("then").at("properties").contains("type"));
  const Json& item = schema.at("properties").at("score").at("properties").at("methods").at("items");
  CHECK(item.at("oneOf").at(0).at("enum") == Json::array({"entropy", "gradient", "random"}));
  CHECK(item.at("oneOf").at(1).at("properties").at("random").at("properties").contains("draws"));
  CHECK(item.at("oneOf").at(1).at("properties").at("random").at("properties").contains("label"));
  CHECK(item.at("oneOf").at(1).at("maxProperties") == 1);
}

TEST_CASE("the reference of a plug-in has name, type, default and help of each option", "[config]") {
  const auto tsv = option_help(*Registry<Corpus>::instance().make_options("tsv"));
  REQUIRE(tsv.size() == 3);
  CHECK(tsv[0].name == "path");
  CHECK(tsv[0].type == "path of a file");
  CHECK(tsv[0].default_value == "");
  CHECK(tsv[0].help == "the table");
  CHECK(tsv[1].type == "whole number, at least 1");
  CHECK(tsv[1].default_value == "64");
}

}  // namespace headprune::zoo
