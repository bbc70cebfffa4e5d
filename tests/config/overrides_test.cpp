// The grammar of key=value.
#include "config/overrides.h"

#include "support/catch.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

Experiment with(const std::vector<std::string>& overrides, const std::string& yaml = kSmall) {
  return load_text(yaml, overrides).value;
}

}  // namespace

TEST_CASE("the schema gives an override its type", "[config]") {
  CHECK(with({"name=010"}).name == "010");
  CHECK(with({"name=true"}).name == "true");
  CHECK(with({"model.heads=8"}).model.heads == 8);
  CHECK(with({"train.learning_rate=1e-3"}).train.learning_rate == 1e-3);
  CHECK(with({"train.shuffle=false"}).train.shuffle == false);
  CHECK(with({"train.lr_scheduler_type=cosine"}).train.lr_scheduler_type == Schedule::cosine);
}

TEST_CASE("bare text runs to the end, with commas, equals signs and spaces", "[config]") {
  CHECK(with({"name=a=b, c"}).name == "a=b, c");
  CHECK(with({"data.pattern=x y"}).data.options_json().at("pattern") == "x y");
}

TEST_CASE("quoted text has backslash escapes", "[config]") {
  CHECK(with({R"(name="a \"b\" \\ \n")"}).name == "a \"b\" \\ \n");
  CHECK(with({R"(name='it\'s')"}).name == "it's");
  CHECK(with({"name='null'"}).name == "null");
}

TEST_CASE("lists and maps nest, with spaces where they please", "[config]") {
  CHECK(with({"seeds=[1,2 , 3]"}).seeds == std::vector<int64_t>{1, 2, 3});
  CHECK(with({"train.freeze=[]"}).train.freeze.empty());
  CHECK(with({"train.freeze=[a b, 'c,d', \"]\"]"}).train.freeze == std::vector<std::string>{"a b", "c,d", "]"});
  const Experiment experiment = with({"surgery={fractions: [0, .5], timing: {repeats: 3}}"});
  CHECK(experiment.surgery->fractions == std::vector<double>{0, 0.5});
  CHECK(experiment.surgery->timing.repeats == 3);
  CHECK(experiment.surgery->timing.batch_sizes == std::vector<int64_t>{1, 16});
}

TEST_CASE("null and ~ empty an optional", "[config]") {
  const std::string yaml = kSmall + "train: {max_steps: 7}\n";
  CHECK(with({}, yaml).train.max_steps == 7);
  CHECK_FALSE(with({"train.max_steps=null"}, yaml).train.max_steps.has_value());
  CHECK_FALSE(with({"train.max_steps=~"}, yaml).train.max_steps.has_value());
}

TEST_CASE("an empty value is empty text", "[config]") {
  CHECK(problems_of(kSmall, {"name="}) == "override:1:6: name: must not be empty");
  CHECK(with({"output="}).output.empty());
}

TEST_CASE("a number in the key chooses an entry of a list", "[config]") {
  const std::string yaml = kSmall +
                           "seeds: [1, 2, 3]\ntimings: [{repeats: 1}, {repeats: 2}]\n"
                           "score: {methods: [gradient, {random: {draws: 2, label: r}}]}\n";
  CHECK(with({"seeds.1=9"}, yaml).seeds == std::vector<int64_t>{1, 9, 3});
  CHECK(with({"timings.1.repeats=7"}, yaml).timings[1].repeats == 7);
  const Experiment experiment =
      with({"score.methods.0.gradient.normalize=none", "score.methods.1.random.draws=4"}, yaml);
  CHECK(experiment.score.methods[0].options_json().at("normalize") == "none");
  CHECK(experiment.score.methods[1].make()->draws() == 4);
  CHECK(experiment.score.methods[1].label == "r");
  const Experiment replaced = with({"score.methods.1=entropy"}, yaml);
  CHECK(replaced.score.methods[1].type == "entropy");
  CHECK(replaced.score.methods[1].label == "entropy");
  const Experiment labelled = with({"score.methods.1.random.label=other"}, yaml);
  CHECK(labelled.score.methods[1].label == "other");
}

TEST_CASE("later overrides win", "[config]") { CHECK(with({"model.heads=8", "model.heads=16"}).model.heads == 16); }

TEST_CASE("variables stand in overrides of any type, also inside brackets", "[config]") {
  setenv("HEADPRUNE_TEST_SEED", "42", 1);
  CHECK(with({"seeds=[${env:HEADPRUNE_TEST_SEED}, 2]"}).seeds == std::vector<int64_t>{42, 2});
  CHECK(with({"model.heads=${env:HEADPRUNE_TEST_NONE:-8}"}).model.heads == 8);
  CHECK(with({"name=$${x}"}).name == "${x}");
  CHECK(problems_of(kSmall, {"name=${x}"}).starts_with("override:1:6: name: '${x}' is not supported"));
}

TEST_CASE("the command line can tell an override from a file", "[config]") {
  for (const char* yes : {"a=1", "a.b-c.0.d=", "seeds=[1]", "+a=1", "~a", "-m", "--set", "--set=a=1"}) {
    INFO(yes);
    CHECK(looks_like_override(yes));
  }
  for (const char* no : {"experiment.yaml", "dir/a=b.yaml", "a..b=1", "=1", "--out=x", "1.a=2", ""}) {
    INFO(no);
    CHECK_FALSE(looks_like_override(no));
  }
}

}  // namespace headprune::zoo
