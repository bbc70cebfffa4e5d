#include "report/page/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/numbers/groups.h"
#include "report/numbers/keyed_metrics.h"
#include "report/numbers/timing.h"
#include "report/tables/notes.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr const char* kAlarm = "31";

/// Three digits at least, and never an exponent.
std::string ms_text(double seconds) {
  const double ms = 1e3 * seconds;
  return ms < 100 ? fmt::format("{:.3g}", ms) : fmt::format("{:.0f}", ms);
}

class Summary {
 public:
  Summary(const Record& record, const TerminalOptions& options) : record_(record), options_(options) {}

  std::string text() {
    title();
    baseline();
    out_ += sweeps_text(record_, options_);
    out_ += sensitivity_text(record_, options_);
    surgery();
    timing();
    stages();
    problems();
    heading("Results");
    out_ += fmt::format(": {}\n", options_.folder);
    if (record_.facts && record_.facts->has_format("html"))
      out_ += fmt::format("Report: {}/report.html\n", options_.folder);
    return std::move(out_);
  }

 private:
  void heading(const std::string& text) { out_ += '\n' + coloured(text, kBold, options_.colour); }
  void line(const std::string& text) { out_ += wrapped(text, options_.width, 2); }

  void title() {
    if (!record_.facts) {
      out_ += coloured("Run", kBold, options_.colour) + fmt::format(", state: {}\n", record_.state());
      return;
    }
    const RunFacts& facts = *record_.facts;
    out_ += coloured(facts.task, kBold, options_.colour);
    if (facts.task_type != facts.task) out_ += fmt::format(" ({})", facts.task_type);
    out_ +=
        fmt::format(", {}, {}", facts.model, count_text(static_cast<int64_t>(all_heads(facts.blocks).size()), "head"));
    std::vector<std::string> seeds;
    for (const int64_t seed : facts.seeds) seeds.push_back(std::to_string(seed));
    out_ += fmt::format(", seed{} {}\n", seeds.size() == 1 ? "" : "s", join(seeds, ", "));
    std::vector<std::string> options;
    for (const std::string_view option : split(facts.model_args, ',')) options.emplace_back(option);
    if (!facts.model_args.empty()) line(join(options, ", "));
    const std::string state = record_.state();
    if (state == "completed") return;
    out_ += "  " + coloured("PARTIAL", kAlarm, options_.colour) +
            fmt::format(": state \"{}\"; what follows is what there is so far\n", state);
  }

  void baseline() {
    heading("Unpruned model");
    const std::optional<PointGroup> base = base_group(record_);
    if (!base) {
      out_ += ": not evaluated yet\n";
      return;
    }
    out_ += fmt::format(", {} split{}\n", base->first().split, split_name(base->first().split));
    TextRows rows = {{"", "value", "±", "95 % interval", "n"}};
    for (const MetricSummary& metric : base->metrics) {
      const std::vector<std::string> cells = estimate_cells(metric.estimate);
      rows.push_back({metric.name, cells[0], cells[1], cells[2], std::to_string(metric.estimate.n)});
    }
    out_ += text_table(rows, {options_.width, 2, 5, 0, 1});
    baseline_notes(base->metrics);
  }

  void baseline_notes(const std::vector<MetricSummary>& metrics) {
    if (metrics.empty()) return;
    line(error_sentence(metrics) + " n counts examples.");
    line(seeds_sentence(record_, metrics.front()));
    if (!record_.facts) return;
    for (const std::string& signature : record_.facts->signatures()) line(signature);
    for (const auto& pair : record_.facts->shared_splits) {
      line(fmt::format("Shared splits: {} and {} are the same data.", pair[0], pair[1]));
    }
    for (const SplitFact& split : record_.facts->splits) {
      if (!split.note.empty()) line(fmt::format("{} split: {}", split.role, split.note));
    }
  }

  std::string split_name(const std::string& role) const {
    if (!record_.facts) return "";
    for (const SplitFact& split : record_.facts->splits) {
      if (split.role == role && split.name != role) return fmt::format(" ({})", split.name);
    }
    return "";
  }

  void surgery() {
    if (record_.surgery.empty()) return;
    const auto [worst, tolerance, unequal] = surgery_summary(record_);
    heading("Heads removed for real");
    out_ += fmt::format(": {} compared with zero gates\n",
                        count_text(static_cast<int64_t>(record_.surgery.size()), "mask"));
    const std::string verdict = unequal == 0 ? "equal" : fmt::format("NOT EQUAL for {}", unequal);
    line(fmt::format("largest difference of any logit {:.2g}, tolerance {:.2g}: {}", worst, tolerance, verdict));
  }

  void timing() {
    const std::vector<TimingSummary> timings = timing_summaries(record_);
    if (timings.empty()) return;
    heading("Timing");
    out_ += " of a forward pass, median [fastest, slowest]\n";
    TextRows rows = {{"form", "removed", "mask", "batch", "length", "ms", "examples/s", "speed"}};
    for (const TimingSummary& timing : timings) {
      const Spread& spread = timing.seconds_per_batch;
      const PointSpec spec = timing.point == nullptr ? PointSpec() : timing.point->spec;
      rows.push_back({timing.result->form,
                      timing.point == nullptr ? "-" : fraction_text(spec.heads_removed, timing.point->heads_total),
                      timed_mask_text(record_, timing), std::to_string(timing.result->batch_size),
                      std::to_string(timing.result->sequence_length),
                      fmt::format("{} [{}, {}]", ms_text(spread.median), ms_text(spread.min), ms_text(spread.max)),
                      fmt::format("{:.0f}", timing.examples_per_second.median),
                      timing.speed ? fmt::format("{:.2f}x", *timing.speed) : "-"});
    }
    out_ += text_table(rows, {options_.width, 2, 5, 0, 1});
    line(
        fmt::format("{} repeats each; speed is against intact. Masked heads are still computed: no speed-up is "
                    "expected of them.{}",
                    timings.front().seconds_per_batch.n, sides_sentence(record_)));
  }

  void stages() {
    struct StageCost {
      double seconds = 0;
      int64_t forward = 0, backward = 0;
    };
    std::map<std::string, StageCost> costs;
    StageCost total;
    for (const auto& [key, stage] : record_.stages) {
      for (StageCost* cost : {&costs[key.first], &total}) {
        cost->seconds += stage.dur_s;
        cost->forward += stage.forward;
        cost->backward += stage.backward;
      }
    }
    if (costs.empty()) return;
    heading("Time by stage");
    out_ +=
        record_.attempts > 1 ? fmt::format(" (each in the last attempt that ran it, of {})\n", record_.attempts) : "\n";
    TextRows rows = {{"stage", "time", "forward passes", "backward passes"}};
    const auto add = [&](const std::string& name, const StageCost& cost) {
      rows.push_back({name, duration_text(cost.seconds), std::to_string(cost.forward), std::to_string(cost.backward)});
    };
    for (const std::string& name : stage_names()) {
      const auto cost = costs.find(name);
      if (cost != costs.end()) add(name, cost->second);
    }
    add("total", total);
    out_ += text_table(rows, {options_.width, 2, 4, 0, 1});
  }

  void problems() {
    if (record_.mixed_fingerprint) {
      heading("Mixed fingerprint");
      out_ += ": attempts ran under different circumstances, which can change numbers\n";
    }
    if (!record_.failed.empty()) {
      heading("Failed points");
      out_ += fmt::format(": {}\n", record_.failed.size());
      for (const auto& [point, failure] : record_.failed) line(fmt::format("{}: {}", point, failure.message));
    }
    if (record_.warnings.empty()) return;
    heading("Warnings");
    out_ += '\n';
    for (const Warning& warning : record_.warnings) line(fmt::format("{}: {}", warning.code, warning.message));
  }

  const Record& record_;
  const TerminalOptions& options_;
  std::string out_;
};

}  // namespace

std::string terminal_summary(const Record& record, const TerminalOptions& options) {
  return Summary(record, options).text();
}

}  // namespace headprune
