// Layers, origins, variables, paths.
#include "config/load.h"

#include <unistd.h>

#include <fstream>

#include "config/dump.h"
#include "core/files.h"
#include "core/hash.h"
#include "support/catch.h"
#include "support/folder.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

std::string load_error(const fs::path& file) {
  try {
    load_config<Experiment>(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("keys that no layer names keep their defaults", "[config]") {
  const Experiment value = load_text(kSmall).value;
  CHECK(value.seeds == std::vector<int64_t>{1});
  CHECK(value.train.learning_rate == 1e-5);
  CHECK_FALSE(value.surgery.has_value());
  CHECK(value.score.methods.size() == 2);
  CHECK(value.score.methods[0].label == "gradient");
}

TEST_CASE("numbers are read in all their forms", "[config]") {
  const auto rate = [](const std::string& text) {
    return load_text(kSmall + "train: {learning_rate: " + text + "}\n").value.train.learning_rate;
  };
  CHECK(rate("1e-4") == 1e-4);
  CHECK(rate(".5") == 0.5);
  CHECK(rate("5.") == 5.0);
  CHECK(rate("3") == 3.0);
  CHECK(rate("1.0e-05") == 1e-5);
  CHECK(rate("2.5E+2") == 250.0);
  CHECK(load_text(kSmall + "seeds: [9223372036854775807, 0]\n").value.seeds[0] == INT64_MAX);
}

TEST_CASE("text takes any plain or quoted scalar as it stands", "[config]") {
  const auto name = [](const std::string& text) {
    return load_text("name: " + text + "\ndata: {type: synthetic}\n").value.name;
  };
  CHECK(name("010") == "010");
  CHECK(name("yes") == "yes");
  CHECK(name("1e400") == "1e400");
  CHECK(name("\"a\\tb\"") == "a\tb");
  CHECK(name("'null'") == "null");
}

TEST_CASE("an optional is emptied by null, by ~ and by nothing", "[config]") {
  for (const char* nothing : {"null", "~", ""}) {
    const Experiment value = load_text(kSmall + "train:\n  max_steps: " + nothing + "\n  shuffle: false\n").value;
    CHECK_FALSE(value.train.max_steps.has_value());
    CHECK_FALSE(value.train.shuffle);
  }
}

TEST_CASE("layers: extends from left to right, then the file, then overrides; lists whole, sections by key",
          "[config]") {
  const TestFolder folder;
  folder.write("parts/deep.yaml",
               "train: {num_train_epochs: 7, learning_rate: 0.5, warmup_ratio: 0.1}\nseeds: [9, 9]\n");
  folder.write("parts/one.yaml", "extends: [deep.yaml]\ntrain: {learning_rate: 0.25}\n");
  folder.write("two.yaml", "train: {warmup_ratio: 0.2, max_steps: 5}\n");
  const fs::path file = folder.write(
      "e.yaml",
      "extends: [parts/one.yaml, two.yaml]\nname: x\ndata: {type: synthetic}\nseeds: [4]\ntrain: {max_steps: 6}\n");
  const auto loaded = load_config<Experiment>(file, {"train.shuffle=false"});
  CHECK(loaded.value.train.num_train_epochs == 7);
  CHECK(loaded.value.train.learning_rate == 0.25);
  CHECK(loaded.value.train.warmup_ratio == 0.2);
  CHECK(loaded.value.train.max_steps == 6);
  CHECK(loaded.value.train.shuffle == false);
  CHECK(loaded.value.seeds == std::vector<int64_t>{4});

  const auto origin = [&](const std::string& path) { return origin_text(loaded.origins, path); };
  CHECK(origin("train.num_train_epochs") == (folder / "parts/deep.yaml").string() + ":1:27");
  CHECK(origin("train.learning_rate") == (folder / "parts/one.yaml").string() + ":2:24");
  CHECK(origin("train.max_steps") == file.string() + ":5:20");
  CHECK(origin("train.shuffle") == "override:1:15");
  CHECK(origin("train.lr_scheduler_type") == "default");
  CHECK(origin("seeds.0") == file.string() + ":4:9");
  CHECK(origin("seeds.1") == "default");  // the longer list is forgotten

  REQUIRE(loaded.files.size() == 4);
  CHECK(loaded.files[0].path == file);
  CHECK(loaded.files[1].path == folder / "parts/one.yaml");
  CHECK(loaded.files[2].path == folder / "parts/deep.yaml");
  CHECK(loaded.files[3].path == folder / "two.yaml");
  CHECK(loaded.files[2].sha256 == sha256(loaded.files[2].text));
}

TEST_CASE("a later layer changes options of the plug-in before, or starts another from its defaults", "[config]") {
  const TestFolder folder;
  folder.write("base.yaml", "name: x\ndata: {type: synthetic, examples: 7, pattern: sort}\n");
  folder.write("table.tsv", "a\tb\n");
  const auto load = [&](const std::string& text) {
    return load_config<Experiment>(folder.write("e.yaml", "extends: [base.yaml]\n" + text));
  };
  const Json same = load("data: {examples: 9}\n").value.data.options_json();
  CHECK(same.at("examples") == 9);
  CHECK(same.at("pattern") == "sort");
  const Json named = load("data: {type: synthetic, examples: 9}\n").value.data.options_json();
  CHECK(named.at("pattern") == "sort");
  const auto other = load("data: {type: tsv, path: table.tsv}\n");
  CHECK(other.value.data.type == "tsv");
  CHECK(other.value.data.options_json().at("path") == (folder / "table.tsv").string());
  CHECK(origin_text(other.origins, "data.examples") == "default");
  const auto again = load_config<Experiment>(folder.write("f.yaml", "extends: [e.yaml]\ndata: {type: synthetic}\n"));
  CHECK(again.value.data.options_json().at("examples") == 100);
}

TEST_CASE("relative paths start at the file that sets them, in overrides at the current folder", "[config]") {
  const TestFolder folder;
  folder.write("parts/base.yaml", "output: ../out/\n");
  const fs::path file = folder.write("e.yaml", "extends: [parts/base.yaml]\n" + kSmall);
  CHECK(load_config<Experiment>(file).value.output == folder / "out");
  CHECK(load_config<Experiment>(file, {"output=here/x"}).value.output == fs::current_path() / "here/x");
  CHECK(load_config<Experiment>(file, {"output=/abs"}).value.output == "/abs");
  CHECK(load_text(kSmall).value.output == fs::current_path() / "runs");  // a default
}

TEST_CASE("problems of an extended file name that file; only the winning path must exist", "[config]") {
  const TestFolder folder;
  folder.write("base.yaml", "name: x\ndata: {type: tsv, path: missing.tsv}\ntrain: {shufle: true}\n");
  folder.write("table.tsv", "a\tb\n");
  const std::string head = "extends: [base.yaml]\ndata: {path: table.tsv}\n";
  CHECK(load_error(folder.write("e.yaml", head + "model: {heads: x}\n")) ==
        (folder / "e.yaml").string() + ":3:16: model.heads: expected a whole number, got 'x'\n" +
            (folder / "base.yaml").string() + ":3:9: train.shufle: unknown key; did you mean 'shuffle'?");
}

TEST_CASE("cycles of extends are refused and drawn", "[config]") {
  const TestFolder folder;
  folder.write("b.yaml", "extends: [a.yaml]\n");
  const fs::path a = folder.write("a.yaml", "extends: [b.yaml]\n" + kSmall);
  const std::string b_name = (folder / "b.yaml").string();
  CHECK(load_error(a) ==
        b_name + ":1:11: extends.0: extends itself: " + a.string() + " -> " + b_name + " -> " + a.string());
}

TEST_CASE("a file that two others extend is no cycle and is listed once", "[config]") {
  const TestFolder folder;
  folder.write("base.yaml", "train: {max_steps: 3}\n");
  folder.write("a.yaml", "extends: [base.yaml]\n" + kSmall);
  folder.write("b.yaml", "extends: [base.yaml]\ntrain: {shuffle: true}\n");
  const auto loaded = load_config<Experiment>(folder.write("e.yaml", "extends: [a.yaml, b.yaml]\nname: e\n"));
  CHECK(loaded.value.train.max_steps == 3);
  CHECK(loaded.files.size() == 4);
}

TEST_CASE("a missing extended file is reported where it is named, without guessing at what it would have set",
          "[config]") {
  const TestFolder folder;
  const fs::path file = folder.write("e.yaml", "extends: [none.yaml]\nseeds: [x]\n");
  const std::string found = load_error(file);
  CHECK(found.starts_with(file.string() + ":1:11: extends.0: "));
  CHECK_THAT(found, ContainsSubstring("none.yaml"));
  CHECK_THAT(found, ContainsSubstring("e.yaml:2:9: seeds.0: expected a whole number"));
  CHECK(found.find("missing; this key") == std::string::npos);
}

TEST_CASE("a missing experiment file or a folder in its place is exit code 2", "[config]") {
  const TestFolder folder;
  for (const fs::path& path : {folder / "none.yaml", folder / ""}) {
    try {
      load_config<Experiment>(path);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      CHECK_THAT(error.what(), ContainsSubstring(path.string()));
    }
  }
}

TEST_CASE("variables are replaced once, in text and paths, and are recorded", "[config]") {
  setenv("HEADPRUNE_TEST_DATA", "/somewhere", 1);
  setenv("HEADPRUNE_TEST_LITERAL", "${env:HOME} # [x]", 1);
  setenv("HEADPRUNE_TEST_EMPTY", "", 1);
  unsetenv("HEADPRUNE_TEST_UNSET");
  const auto loaded = load_text(
      "name: \"${env:HEADPRUNE_TEST_LITERAL}\"\n"
      "output: ${env:HEADPRUNE_TEST_DATA}/out\n"
      "train: {freeze: [\"${env:HEADPRUNE_TEST_UNSET:-d e}\", \"<${env:HEADPRUNE_TEST_EMPTY:-f}>\", "
      "\"$${env:X} $5 ${env:HEADPRUNE_TEST_UNSET:-}\"]}\n"
      "data: {type: synthetic}\n");
  CHECK(loaded.value.name == "${env:HOME} # [x]");
  CHECK(loaded.value.output == "/somewhere/out");
  CHECK(loaded.value.train.freeze == std::vector<std::string>{"d e", "<f>", "${env:X} $5 "});
  CHECK(loaded.environment == std::map<std::string, std::string>{{"HEADPRUNE_TEST_DATA", "/somewhere"},
                                                                 {"HEADPRUNE_TEST_EMPTY", ""},
                                                                 {"HEADPRUNE_TEST_LITERAL", "${env:HOME} # [x]"},
                                                                 {"HEADPRUNE_TEST_UNSET", ""}});
}

TEST_CASE("a relative path in a variable starts from the working directory, its default from the file", "[config]") {
  const TestFolder folder;
  const fs::path here = fs::current_path();
  setenv("HEADPRUNE_TEST_RELATIVE", "some/where", 1);
  unsetenv("HEADPRUNE_TEST_UNSET");
  const auto output = [&](const std::string& value) {
    return load_config<Experiment>(folder.write("sub/e.yaml", "extends: [small.yaml]\noutput: \"" + value + "\"\n"))
        .value.output;
  };
  folder.write("sub/small.yaml", kSmall);
  CHECK(output("${env:HEADPRUNE_TEST_RELATIVE}/out") == here / "some/where/out");
  CHECK(output("${env:HEADPRUNE_TEST_RELATIVE:-x}") == here / "some/where");
  CHECK(output("${env:HEADPRUNE_TEST_UNSET:-some/where}") == folder / "sub/some/where");
  CHECK(output("x/${env:HEADPRUNE_TEST_RELATIVE}") == folder / "sub/x/some/where");
}

TEST_CASE("extends may name a variable", "[config]") {
  const TestFolder folder;
  folder.write("base.yaml", kSmall);
  setenv("HEADPRUNE_TEST_BASE", "base", 1);
  CHECK(
      load_config<Experiment>(folder.write("e.yaml", "extends: [\"${env:HEADPRUNE_TEST_BASE}.yaml\"]\n")).value.name ==
      "small");
}

TEST_CASE("keys that begin with x- are kept with their values, anywhere", "[config]") {
  const auto loaded = load_text(kSmall +
                                "x-note: [1, 0.5, true, null, '5', '${x}']\ntrain: {x-why: {a: b}}\n"
                                "score: {methods: [{random: {x-c: 1}}]}\n");
  CHECK(loaded.extras == Json({{"x-note", {1, 0.5, true, nullptr, "5", "${x}"}},
                               {"train.x-why", {{"a", "b"}}},
                               {"score.methods.0.random.x-c", 1}}));
}

TEST_CASE("keys of a list of plug-ins that a later layer replaces are forgotten", "[config]") {
  const auto loaded =
      load_text(kSmall + "score: {methods: [{random: {draws: 2, x-c: 1}}]}\n", {"score.methods=[entropy]"});
  CHECK(loaded.extras.empty());
  CHECK(origin_text(loaded.origins, "score.methods.0.random.draws") == "default");
  CHECK(origin_text(loaded.origins, "score.methods.0") == "override:1:16");
}

TEST_CASE("a list of plug-ins takes names, empty options, options and labels", "[config]") {
  const auto& methods = load_text(kSmall +
                                  "score:\n  methods:\n    - entropy\n    - gradient:\n    - random: {}\n"
                                  "    - random: {draws: 2, label: two}\n")
                            .value.score.methods;
  REQUIRE(methods.size() == 4);
  CHECK(methods[1].label == "gradient");
  CHECK(methods[2].make()->draws() == 5);
  CHECK(methods[3].make()->draws() == 2);
  CHECK(methods[3].label == "two");
}

}  // namespace headprune::zoo
