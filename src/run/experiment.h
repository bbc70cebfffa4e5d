// The whole experiment as one configuration struct: the sections of the YAML file (docs/formats.md section 3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "config/registry.h"
#include "data/source.h"
#include "model/grouping.h"
#include "model/linear.h"
#include "prune/rule.h"
#include "prune/sensitivity.h"
#include "score/score.h"
#include "task/task.h"
#include "train/options.h"

namespace headprune {

struct ScoreSection {
  std::vector<PluginItem<ScoreMethod>> methods;
  int64_t batch_size = 32;

  template <class V>
  void fields(V& v) {
    v("methods", methods, "scores to compute for every head; see `headprune list scores`");
    v("batch_size", batch_size, "examples a batch when scoring and evaluating; numbers do not depend on it",
      at_least(1));
  }
};

/// Whose texts heads are looked at on.
enum class SplitRole { score, select, report };
template <>
struct EnumNames<SplitRole> {
  static constexpr std::pair<const char*, SplitRole> names[] = {
      {"score", SplitRole::score}, {"select", SplitRole::select}, {"report", SplitRole::report}};
};

struct AnalysesSection {
  std::vector<PluginItem<Analysis>> methods;
  SplitRole split = SplitRole::score;

  template <class V>
  void fields(V& v) {
    v("methods", methods, "what to find out about every head; see `headprune list analyses`");
    v("split", split, "whose texts they look at, those with texts of their own aside: score, select or report");
  }
};

/// The loaded model in fewer key/value heads, before it is trained.
struct ConvertSection {
  int64_t groups = 1;
  GroupInit init = GroupInit::mean;

  template <class V>
  void fields(V& v) {
    v("groups", groups, "key/value heads of every block, a divisor of those that the loaded model has", required,
      at_least(1));
    v("init", init, kGroupInitHelp);
  }
};

struct PruneSection {
  std::vector<PluginItem<PruneRule>> sweeps;

  template <class V>
  void fields(V& v) {
    v("sweeps", sweeps, "pruning rules to follow; see `headprune list rules`");
  }
};

struct TimingSection {
  std::vector<int64_t> batch_sizes;
  int64_t sequence_length = 0;
  int64_t warmup = 3;
  int64_t repeats = 9;

  template <class V>
  void fields(V& v) {
    v("batch_sizes", batch_sizes, "batch sizes to time, intact, masked and removed; empty: no timing", at_least(1));
    v("sequence_length", sequence_length,
      "positions of the timed batches, of a translation on both sides; 0: those of the longest example of the report "
      "split, of a translation of the longest source",
      at_least(0));
    v("warmup", warmup, "forward passes before the clock starts", at_least(0));
    v("repeats", repeats, "timed forward passes", at_least(2));
  }
};

struct SurgerySection {
  std::vector<double> fractions = {0.5};
  TimingSection timing;

  template <class V>
  void fields(V& v) {
    v("fractions", fractions,
      "fractions at which the first method's heads are removed for real and compared with masking; empty: none",
      between(0, 1));
    v("timing", timing, "timing of the removed form");
  }
};

enum class ReportFormat { html, md, svg, tensorboard };
template <>
struct EnumNames<ReportFormat> {
  static constexpr std::pair<const char*, ReportFormat> names[] = {{"html", ReportFormat::html},
                                                                   {"md", ReportFormat::md},
                                                                   {"svg", ReportFormat::svg},
                                                                   {"tensorboard", ReportFormat::tensorboard}};
};

struct ReportSection {
  std::vector<ReportFormat> formats = {ReportFormat::html, ReportFormat::md, ReportFormat::svg,
                                       ReportFormat::tensorboard};
  int64_t bootstrap_iters = 10000;

  template <class V>
  void fields(V& v) {
    v("formats", formats,
      "views for people: html (report.html), md (report.md), svg (plots/) and tensorboard (tb/, written while the run "
      "goes on); tables and results.json are always written");
    v("bootstrap_iters", bootstrap_iters, "draws of every bootstrap interval and paired test", between(100, 1000000));
  }
};

struct CheckSection {
  std::optional<std::filesystem::path> baseline;

  template <class V>
  void fields(V& v) {
    v("baseline", baseline, "baseline of `headprune check`; absent: expected.json beside the experiment file");
  }
};

struct RuntimeSection {
  std::string device = "cpu";
  std::optional<int64_t> threads;
  int64_t memory_mb = 2048;
  bool deterministic = true;
  LinearLibrary linear = LinearLibrary::automatic;
  ComputeType dtype = ComputeType::float32;
  std::vector<std::string> signals = {"INT", "TERM", "USR1", "USR2", "HUP"};

  template <class V>
  void fields(V& v) {
    v("device", device, "cpu, cuda or cuda:N");
    v("threads", threads,
      "cores that compute; absent: every core this process may use. Scoring and evaluation give each core a batch, "
      "training divides operations among them",
      at_least(1));
    v("memory_mb", memory_mb,
      "megabytes that states shared by several masks may take; with less, more is computed again, to the same numbers",
      between(0, 1048576));
    v("deterministic", deterministic, "refuse operations whose result may differ between runs");
    v("linear", linear,
      "library of matrix products: auto takes onednn on AMD processors with AVX-512, else blas; part of the "
      "fingerprint");
    v("dtype", dtype,
      "of the factors of matrix products in hidden layers: bfloat16 is faster on processors that have it, and keeps "
      "two to three digits of each; part of the fingerprint");
    v("signals", signals, "signals that stop the run cleanly: INT, TERM, USR1, USR2, HUP", [](const std::string& name) {
      for (const char* known : {"INT", "TERM", "USR1", "USR2", "HUP"})
        if (name == known) return std::string();
      return std::string("expected one of INT, TERM, USR1, USR2, HUP");
    });
    v.not_supported("workers", "batches are computed side by side by runtime.threads");
  }
};

struct OutputSection {
  std::filesystem::path dir = "runs";
  bool samples = false;

  template <class V>
  void fields(V& v) {
    v("dir", dir, "folder that holds run folders");
    v("samples", samples, "keep every example's outcome at every point, in samples/");
  }
};

struct Experiment {
  std::string name;
  std::vector<int64_t> seeds = {1};
  Plugin<DataSource> data;
  Plugin<Task> task;
  Plugin<ModelFamily> model;
  std::optional<ConvertSection> convert;
  std::optional<TrainOptions> train;
  ScoreSection score;
  AnalysesSection analyses;
  PruneSection prune;
  SensitivityOptions sensitivity;
  SurgerySection surgery;
  ReportSection report;
  CheckSection check;
  RuntimeSection runtime;
  OutputSection output;

  template <class V>
  void fields(V& v) {
    v("name", name, "name of the run folder: [a-z0-9][a-z0-9._-]{0,63}", required,
      [](const std::string& text) { return valid_name(text) ? std::string() : "expected [a-z0-9][a-z0-9._-]{0,63}"; });
    v("seeds", seeds, "each seed is one full repetition", not_empty, at_least(0));
    v("data", data, "where examples come from; see `headprune list data`", required);
    v("task", task, "what is predicted and measured; see `headprune list tasks`", required);
    v("model", model, "the transformer; see `headprune list models`", required);
    v("convert", convert, "a loaded model in fewer key/value heads, as a beginning for training");
    if constexpr (requires { v.hide({"convert"}); })
      if (!convert) v.hide({"convert"});
    v("train", train, "training, or fine-tuning of a loaded model; needed by init: train");
    v("score", score, "head importance");
    v("analyses", analyses, "what heads do");
    v("prune", prune, "pruning sweeps");
    v("sensitivity", sensitivity, "tables of single heads, layers and blocks");
    v("surgery", surgery, "heads removed for real");
    v("report", report, "statistics of the results");
    v("check", check, "the gate: expected values");
    v("runtime", runtime, "how it is computed");
    v("output", output, "where results go");
  }

  /// The family of `model`, converted where `convert` asks for that.
  std::shared_ptr<ModelFamily> family() const;
  /// Rules that span sections.
  CrossProblems problems() const;
  static bool valid_name(const std::string& text);
};

/// Every method with its draws, in the order of the file.
std::vector<MethodDraws> method_draws(const ScoreSection& score, const Blocks& blocks);

/// The methods that a sweep or table asks for by label, in its order; all of them when it names none. Throws
/// Error(usage) for a label that nobody scores.
std::vector<MethodDraws> chosen_methods(const std::vector<MethodDraws>& scored, const std::vector<std::string>& labels);

/// The hash that says which experiment a run belongs to (docs/formats.md section 1): the effective configuration
/// without what does not move a number, paths replaced by the hash of what they name. `inputs`: as in run.json, of
/// which those with a role "data.*" stand for data.path.
std::string experiment_id(const Experiment& experiment, const Json& inputs);

}  // namespace headprune
