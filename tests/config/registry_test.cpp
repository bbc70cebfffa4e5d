#include "support/catch.h"
#include "zoo.h"

namespace headprune::zoo {

namespace {

const Register<Corpus, TsvCorpus> register_tsv{"tsv", "tab-separated values"};
const Register<Corpus, SyntheticCorpus> register_synthetic{"synthetic", "made-up sequences"};
const Register<Method, RandomMethod> register_random{"random", "independent random orders"};
const Register<Method, GradientMethod> register_gradient{"gradient", "mean absolute gradient of the gate"};
const Register<Method, EntropyMethod> register_entropy{"entropy", "entropy of the attention weights"};

class Twin {
 public:
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit Twin(Options) {}
};
const Register<Twin, Twin> register_twin{"twin", "the first"};
const Register<Twin, Twin> register_twin_again{"twin", "the second"};

}  // namespace

TEST_CASE("a registry lists its plug-ins sorted, with summaries", "[config]") {
  const auto& methods = Registry<Method>::instance();
  CHECK(methods.names() == std::vector<std::string>{"entropy", "gradient", "random"});
  CHECK(methods.summary("random") == "independent random orders");
  CHECK(methods.find("none") == nullptr);
  CHECK(methods.duplicates().empty());
}

TEST_CASE("a name registered twice keeps the first and is reported, not thrown", "[config]") {
  CHECK(Registry<Twin>::instance().duplicates() == std::vector<std::string>{"twin"});
  CHECK(Registry<Twin>::instance().summary("twin") == "the first");
}

TEST_CASE("a plug-in is made from its options, and copies are independent", "[config]") {
  Experiment experiment = load_text(
                              "name: a\ndata: {type: synthetic, examples: 7}\n"
                              "score: {methods: [{random: {draws: 9}}, entropy]}\n")
                              .value;
  CHECK(experiment.data.make()->describe() == "synthetic 7");
  CHECK(experiment.score.methods[0].make()->draws() == 9);
  CHECK(experiment.score.methods[0].options_json() == Json{{"draws", 9}});
  CHECK(experiment.score.methods[1].name() == "entropy");
  Experiment copy = experiment;
  copy.data.set_type("tsv");
  CHECK(experiment.data.make()->describe() == "synthetic 7");
  CHECK(copy.data.options_json().at("max_length") == 64);
}

TEST_CASE("a plug-in chosen in code has its defaults", "[config]") {
  const Plugin<Method> chosen{"random"};
  CHECK(chosen.make()->draws() == 5);
  CHECK_THROWS_AS(Plugin<Method>{"no_such"}.make(), std::logic_error);
}

TEST_CASE("one table of names parses and prints an enum", "[config]") {
  CHECK(std::string(enum_name(Schedule::cosine)) == "cosine");
  CHECK(enum_value<Schedule>("linear") == Schedule::linear);
  CHECK_FALSE(enum_value<Schedule>("Linear").has_value());
}

TEST_CASE("two fields of one name are a programmer's error", "[config]") {
  FieldList list;
  int64_t a = 0, b = 0;
  list("a", a, "first");
  CHECK_THROWS_AS(list("a", b, "second"), std::logic_error);
}

}  // namespace headprune::zoo
