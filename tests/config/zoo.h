// A small configuration with every kind of field, and two registries of its own, for the tests of config.
#pragma once

#include "config/load.h"
#include "config/registry.h"

namespace headprune {

enum class Schedule { constant, linear, cosine };
template <>
struct EnumNames<Schedule> {
  static constexpr std::pair<const char*, Schedule> names[] = {
      {"constant", Schedule::constant}, {"linear", Schedule::linear}, {"cosine", Schedule::cosine}};
};

namespace zoo {

/// Where examples come from.
class Corpus {
 public:
  virtual ~Corpus() = default;
  virtual std::string describe() const = 0;
};

class TsvCorpus final : public Corpus {
 public:
  struct Options {
    std::filesystem::path path;
    int64_t max_length = 64;
    bool header = true;
    template <class V>
    void fields(V& v) {
      v("path", path, "the table", required, existing_file);
      v("max_length", max_length, "longest example in tokens", at_least(1));
      v("header", header, "whether the first line names the columns");
      v.renamed("file", "path");
    }
  };
  explicit TsvCorpus(Options options) : options_(std::move(options)) {}
  std::string describe() const override { return "tsv " + options_.path.filename().string(); }

 private:
  Options options_;
};

class SyntheticCorpus final : public Corpus {
 public:
  struct Options {
    int64_t examples = 100;
    std::string pattern = "copy";
    std::vector<double> fractions = {0.8, 0.1, 0.1};
    template <class V>
    void fields(V& v) {
      v("examples", examples, "how many examples", between(1, 1000));
      v("pattern", pattern, "what to learn", not_empty);
      v("fractions", fractions, "train, dev, test", above(0), at_most(1));
    }
    CrossProblems problems() const {
      double sum = 0;
      for (const double fraction : fractions) sum += fraction;
      if (sum > 1.0 + 1e-9) return {{"fractions", "add up to more than 1"}};
      return {};
    }
  };
  explicit SyntheticCorpus(Options options) : options_(std::move(options)) {}
  std::string describe() const override { return "synthetic " + std::to_string(options_.examples); }

 private:
  Options options_;
};

/// A score.
class Method {
 public:
  virtual ~Method() = default;
  virtual int64_t draws() const = 0;
};

class RandomMethod final : public Method {
 public:
  struct Options {
    int64_t draws = 5;
    template <class V>
    void fields(V& v) {
      v("draws", draws, "how many independent draws", at_least(1));
    }
  };
  explicit RandomMethod(Options options) : options_(options) {}
  int64_t draws() const override { return options_.draws; }

 private:
  Options options_;
};

class GradientMethod final : public Method {
 public:
  struct Options {
    std::string normalize = "layer_l2";
    std::vector<int64_t> only_layers;
    template <class V>
    void fields(V& v) {
      v("normalize", normalize, "scale of one layer's scores", [](const std::string& word) {
        return word == "layer_l2" || word == "none" ? "" : "must be layer_l2 or none, got '" + word + "'";
      });
      v("only_layers", only_layers, "layers to score; empty = all",
        [](int64_t layer) { return layer % 2 == 0 ? "" : "layer " + std::to_string(layer) + " is odd"; });
    }
  };
  explicit GradientMethod(Options) {}
  int64_t draws() const override { return 1; }
};

class EntropyMethod final : public Method {
 public:
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit EntropyMethod(Options) {}
  int64_t draws() const override { return 1; }
};

struct Train {
  int64_t num_train_epochs = 3;
  double learning_rate = 1e-5;
  double warmup_ratio = 0;
  Schedule lr_scheduler_type = Schedule::linear;
  std::optional<int64_t> max_steps;
  bool shuffle = true;
  std::vector<std::string> freeze;
  template <class V>
  void fields(V& v) {
    v("num_train_epochs", num_train_epochs, "passes over the data", at_least(1));
    v("learning_rate", learning_rate, "peak learning rate", above(0));
    v("warmup_ratio", warmup_ratio, "part of the steps that warms up", between(0, 1));
    v("lr_scheduler_type", lr_scheduler_type, "shape of the learning rate");
    v("max_steps", max_steps, "stop after so many steps", at_least(1));
    v("shuffle", shuffle, "new order in each epoch");
    v("freeze", freeze, "parameters that stay");
    v.not_supported("per_device_eval_batch_size", "use score.batch_size");
    v.renamed("epochs", "num_train_epochs");
  }
  CrossProblems problems() const {
    if (max_steps && warmup_ratio >= 1) return {{"warmup_ratio", "leaves no step after the warm-up"}};
    return {};
  }
};

struct Model {
  int64_t d_model = 64, heads = 4;
  template <class V>
  void fields(V& v) {
    v("d_model", d_model, "width", at_least(1));
    v("heads", heads, "heads of a layer", at_least(1));
  }
  std::string check() const {
    return d_model % heads == 0 ? ""
                                : std::to_string(heads) + " heads do not divide d_model " + std::to_string(d_model);
  }
};

struct Score {
  std::vector<PluginItem<Method>> methods = {{"gradient"}, {"random"}};
  int64_t batch_size = 32;
  template <class V>
  void fields(V& v) {
    v("methods", methods, "scores to compute", not_empty);
    v("batch_size", batch_size, "examples at once", between(1, 4096));
  }
};

struct Timing {
  std::vector<int64_t> batch_sizes = {1, 16};
  int64_t repeats = 9;
  template <class V>
  void fields(V& v) {
    v("batch_sizes", batch_sizes, "batch sizes to time", at_least(1), not_empty);
    v("repeats", repeats, "timed runs", at_least(1));
  }
};

struct Surgery {
  std::vector<double> fractions = {0.25};
  Timing timing;
  template <class V>
  void fields(V& v) {
    v("fractions", fractions, "fractions to remove", between(0, 1));
    v("timing", timing, "what is timed");
  }
};

struct Experiment {
  std::string name;
  std::vector<int64_t> seeds = {1};
  Plugin<Corpus> data;
  Model model;
  Train train;
  Score score;
  std::optional<Surgery> surgery;
  std::vector<Timing> timings;
  std::optional<std::filesystem::path> baseline;
  std::filesystem::path output = "runs";
  template <class V>
  void fields(V& v) {
    v("name", name, "name of the run folder", required, not_empty);
    v("seeds", seeds, "each seed is one repetition", at_least(0), not_empty);
    v("data", data, "where examples come from");
    v("model", model, "the model");
    v("train", train, "training");
    v("score", score, "scores of heads");
    v("surgery", surgery, "physical removal");
    v("timings", timings, "a list of sections");
    v("baseline", baseline, "numbers to compare with", existing_file);
    v("output", output, "where runs go");
  }
  CrossProblems problems() const {
    if (data.make()->describe() == "synthetic 13") return {{"seeds", "bring no luck with 13 examples"}};
    return {};
  }
};

/// Loads text as "f.yaml" with relative paths from tests/config.
inline Loaded<Experiment> load_text(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return load_config<Experiment>(ConfigText{"f.yaml", yaml, HEADPRUNE_SOURCE_DIR "/tests/config"}, overrides);
}

/// The printed problems of such a text; "" when there are none.
inline std::string problems_of(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    load_text(yaml, overrides);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// The smallest text that is a whole configuration.
inline const std::string kSmall = "name: small\ndata: {type: synthetic}\n";

}  // namespace zoo
}  // namespace headprune
