#include "run/experiment.h"

#include <algorithm>
#include <regex>
#include <set>

#include "config/dump.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"
#include "run/rules.h"

namespace headprune {

namespace {

/// A folder counts as the lines "name sha256" of its files, sorted; a missing path as its text.
std::string path_hash(const fs::path& path) {
  if (fs::is_regular_file(path)) return sha256_file(path);
  if (!fs::is_directory(path)) return sha256(path.string());
  std::vector<std::string> lines;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file())
      lines.push_back(fs::relative(entry->path(), path).string() + " " + sha256_file(entry->path()) + "\n");
  if (error) fail(ExitCode::usage, "cannot list the files below {}: {}", path.string(), error.message());
  std::sort(lines.begin(), lines.end());
  Sha256 hash;
  for (const std::string& line : lines) hash.update(line);
  return hash.hex();
}

const char* kind_text(DataKind kind) {
  switch (kind) {
    case DataKind::labelled:
      return "examples with a label";
    case DataKind::numbered:
      return "examples with a number";
    case DataKind::translation:
      return "texts with a translation";
    case DataKind::choices:
      return "contexts with choices";
    default:
      return "running text";
  }
}

/// Problems of sweeps and tables: methods that nobody scores, fractions that these blocks cannot give.
void check_masks(const Experiment& experiment, const ModelFamily& family, CrossProblems& found) {
  const Blocks blocks = family.blocks();
  const std::string cannot_convert = family.cannot_convert();
  const int64_t seed = experiment.seeds.empty() ? 0 : experiment.seeds.front();  // none is reported elsewhere
  for (size_t i = 0; i < experiment.prune.sweeps.size(); ++i) {
    const std::string path = "prune.sweeps." + std::to_string(i);
    try {
      const SeedRule sweep = sweep_rule(experiment, i, {blocks, seed});
      if (sweep.plan.trains_weights() && !experiment.train)
        found.emplace_back(path, "training weights needs a train section: add one");
      if (sweep.rule->converts() && !cannot_convert.empty()) found.emplace_back(path, cannot_convert);
      if (sweep.rule->at_step() && !experiment.train)
        found.emplace_back(path, "at_step is a step of the training, which the experiment lacks: add a train section");
    } catch (const Error& error) {
      found.emplace_back(path, error.what());
    }
  }
  try {
    table_rules(experiment, {blocks, seed});
  } catch (const Error& error) {
    found.emplace_back("sensitivity", error.what());
  }
}

}  // namespace

bool Experiment::valid_name(const std::string& text) {
  static const std::regex form("[a-z0-9][a-z0-9._-]{0,63}");
  return std::regex_match(text, form);
}

std::shared_ptr<ModelFamily> Experiment::family() const {
  const std::shared_ptr<ModelFamily> loaded = model.make();
  if (!convert) return loaded;
  return std::make_shared<ConvertedFamily>(loaded, Grouping{.groups = convert->groups, .init = convert->init});
}

CrossProblems Experiment::problems() const {
  CrossProblems found;
  if (std::set<int64_t>(seeds.begin(), seeds.end()).size() != seeds.size())
    found.emplace_back("seeds", "a seed stands twice; each is one repetition");
  const auto source = data.make();
  const auto measured = task.make();
  const auto family = this->family();
  if (!source->gives(measured->data_kind()))
    found.emplace_back("task.type", fmt::format("task '{}' needs {}, which data '{}' does not give", task.name(),
                                                kind_text(measured->data_kind()), data.name()));
  else if (!family->predicts(measured->data_kind()))
    found.emplace_back("model.type", "model '" + model.name() + "' cannot be used for task '" + task.name() +
                                         "': choose another model.type");
  if (!family->load_path() && !train) found.emplace_back("model", "init: train needs a train section: add one");
  if (measured->data_kind() == DataKind::numbered && train && train->label_smoothing_factor > 0)
    found.emplace_back("train.label_smoothing_factor", "a number has no other labels to spread over; leave it out");
  if (convert && !family->load_path())
    found.emplace_back("convert", "is for a loaded model; of one that is trained here model.groups says it");
  else if (convert && convert->init == GroupInit::random && !train)
    found.emplace_back("convert.init", "random projections mean nothing before they are trained: add a train section");
  else if (const std::string cannot = convert ? family->cannot_convert() : ""; !cannot.empty())
    found.emplace_back("convert", cannot);
  else if (convert)
    try {
      family->blocks();
    } catch (const Error& error) {
      found.emplace_back("convert", error.what());
    }
  if (!found.empty()) return found;
  try {
    check_masks(*this, *family, found);
  } catch (const Error& error) {
    found.emplace_back("model", error.what());
  }
  if (!prune.sweeps.empty() && score.methods.empty())
    found.emplace_back("score.methods", "sweeps need at least one score: add one");
  return found;
}

std::vector<MethodDraws> method_draws(const ScoreSection& score, const Blocks& blocks) {
  std::vector<MethodDraws> draws;
  for (const auto& item : score.methods) {
    const auto method = item.make();
    draws.push_back({.label = item.label,
                     .draws = method->draws(),
                     .needs_data = method->needs().data,
                     .masks = method->masks(blocks)});
  }
  return draws;
}

std::vector<MethodDraws> chosen_methods(const std::vector<MethodDraws>& scored,
                                        const std::vector<std::string>& labels) {
  if (labels.empty()) return scored;
  std::vector<MethodDraws> chosen;
  for (const std::string& label : labels) {
    const auto at = std::find_if(scored.begin(), scored.end(), [&](const auto& m) { return m.label == label; });
    if (at == scored.end())
      fail(ExitCode::usage, "method '{}' is not among score.methods: add it there or correct the label", label);
    chosen.push_back(*at);
  }
  return chosen;
}

std::string experiment_id(const Experiment& experiment, const Json& inputs) {
  // A data folder may hold more than the experiment reads: only the files that are read count.
  const Json data = experiment.data.options_json();
  const std::string data_path = data.value("path", "");
  std::vector<std::string> lines;
  for (const Json& input : inputs) {
    const std::string role = input.at("role");
    if (role.starts_with("data.")) lines.push_back(role + " " + input.at("sha256").get<std::string>() + "\n");
  }
  std::sort(lines.begin(), lines.end());
  // These do not count, so nothing below them is looked at: output.dir holds every earlier run.
  Experiment counted = experiment;
  counted.output.dir.clear();
  counted.check.baseline.reset();
  Json effective = config_json(
      counted, [&](const fs::path& path) { return path == data_path ? sha256(join(lines, "")) : path_hash(path); });
  for (const char* key : {"name", "output", "report", "check", "runtime"}) effective.erase(key);
  // Runs and baselines of the time before there were analyses are those of experiments without.
  if (experiment.analyses.methods.empty()) effective.erase("analyses");
  return sha256(canonical_json(effective));
}

}  // namespace headprune
