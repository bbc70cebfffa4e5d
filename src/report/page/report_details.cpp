// The other parts of a report: sensitivity, agreement, surgery, timing, training, warnings, where it came from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/numbers/agreement_rows.h"
#include "report/numbers/timing.h"
#include "report/page/report_sections.h"
#include "report/tables/notes.h"
#include "report/tables/sensitivity_tables.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

std::string agreement_value(const AgreementGroup* group) {
  if (group == nullptr || group->values.empty()) return "undefined";
  std::string text = fmt::format("{:.3f}", group->mean);
  const int64_t defined = std::ssize(group->values);
  if (defined < group->rows) return text + fmt::format(" ({} of {})", defined, group->rows);
  if (defined == 1 && group->first.p) text += fmt::format(" (p {})", p_text(*group->first.p));
  return text;
}

/// The statistics of a pair of methods over all heads.
struct AgreementLine {
  const AgreementGroup *spearman = nullptr, *kendall = nullptr, *topk = nullptr;
};
using AgreementLines = std::map<std::pair<std::string, std::string>, AgreementLine>;

AgreementLines agreement_lines(const std::vector<AgreementGroup>& groups, const std::string& comparison) {
  AgreementLines lines;
  for (const AgreementGroup& group : groups) {
    const AgreementRow& row = group.first;
    if (row.comparison != comparison || row.kind != "all") continue;
    AgreementLine& line = lines[{row.method_a, row.method_b}];
    if (row.statistic == "spearman") line.spearman = &group;
    if (row.statistic == "kendall_tau_b") line.kendall = &group;
    if (row.statistic == "topk_jaccard" && row.k && *row.k == (row.n + 1) / 2) line.topk = &group;
  }
  return lines;
}

/// How far a method agrees with itself on half of the examples: the lower one of a pair.
std::optional<double> lower_own(const AgreementLines& halves, const std::pair<std::string, std::string>& methods) {
  std::optional<double> lowest;
  for (const std::string& method : {methods.first, methods.second}) {
    const auto own = halves.find({method, method});
    if (own == halves.end() || own->second.spearman == nullptr || own->second.spearman->values.empty())
      return std::nullopt;
    lowest = std::min(lowest.value_or(1.0), own->second.spearman->mean);
  }
  return lowest;
}

/// One line a pair of methods, or a method and itself. With `halves`: how far either agrees with itself.
TextRows agreement_rows_of(const AgreementLines& lines, const AgreementLines* halves) {
  TextRows rows;
  if (lines.empty()) return rows;
  rows.push_back({"methods", "Spearman's rho", "Kendall's tau-b", "same half of the heads (Jaccard)"});
  if (halves != nullptr) rows[0].push_back("lower own rho");
  for (const auto& [pair, line] : lines) {
    const std::string name = pair.first == pair.second ? pair.first : pair.first + ", " + pair.second;
    rows.push_back({name, agreement_value(line.spearman), agreement_value(line.kendall), agreement_value(line.topk)});
    if (halves == nullptr) continue;
    const std::optional<double> own = lower_own(*halves, pair);
    rows.back().push_back(own ? fmt::format("{:.3f}", *own) : "-");
  }
  return rows;
}

std::string relative(double value, double base) { return base > 0 ? fmt::format("{:.3f}", value / base) : "-"; }

TextRows timing_rows(const Record& record) {
  const std::vector<TimingSummary> timings = timing_summaries(record);
  TextRows rows;
  if (timings.empty()) return rows;
  rows.push_back({"form", "removed", "mask", "batch", "tokens", "ms, median [fastest, slowest]", "examples/s", "speed",
                  "attention FLOPs", "parameters"});
  for (const TimingSummary& timing : timings) {
    const Spread& spread = timing.seconds_per_batch;
    const PointResult* point = timing.point;
    const PointResult* base = point == nullptr ? nullptr : record.base(point->spec);
    const bool masked = timing.result->form == "masked";
    rows.push_back({timing.result->form, point == nullptr ? "-" : fmt::format("{:.3g}", point->fraction),
                    timed_mask_text(record, timing), std::to_string(timing.result->batch_size),
                    std::to_string(timing.result->sequence_length),
                    fmt::format("{:.3g} [{:.3g}, {:.3g}]", 1e3 * spread.median, 1e3 * spread.min, 1e3 * spread.max),
                    fmt::format("{:.0f}", timing.examples_per_second.median),
                    timing.speed ? fmt::format("{:.2f}x", *timing.speed) : "-",
                    base == nullptr ? "-"
                    : masked        ? "1.000"
                                    : relative(static_cast<double>(point->attention_flops_per_token),
                                               static_cast<double>(base->attention_flops_per_token)),
                    base == nullptr ? "-"
                    : masked        ? "1.000"
                                    : relative(static_cast<double>(point->params), static_cast<double>(base->params))});
  }
  return rows;
}

std::string quoted_argument(const std::string& argument) {
  const bool plain =
      !argument.empty() &&
      argument.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=,:+@%") ==
          std::string::npos;
  if (plain) return argument;
  std::string out = "'";
  for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string commands(const ReportInput& input) {
  std::string text;
  const std::string git = member_text(input.record.tool, "git");
  if (git != "unknown") text += fmt::format("git checkout {}\n", git);
  if (input.context && !input.context->argv.empty()) {
    std::vector<std::string> arguments;
    for (const std::string& argument : input.context->argv) arguments.push_back(quoted_argument(argument));
    text += fmt::format("# as it was started:\n{}\n", join(arguments, " "));
  }
  return text +
         "# or from this folder, which holds the effective configuration:\nheadprune run config.yaml --out "
         "/tmp/again\n";
}

TextRows facts_rows(const ReportInput& input) {
  TextRows rows = {{"what", "value"}};
  const Record& record = input.record;
  rows.push_back({"experiment", record.experiment_id});
  rows.push_back(
      {"headprune", fmt::format("{} ({}{}), {}", member_text(record.tool, "version"), member_text(record.tool, "git"),
                                member_text(record.tool, "dirty") == "true" ? ", with uncommitted changes" : "",
                                member_text(record.tool, "compiler"))});
  rows.push_back({"started, ended", record.started + ", " + record.ended});
  rows.push_back({"attempts", std::to_string(record.attempts)});
  if (input.context && input.context->host.is_object())
    rows.push_back({"host", fmt::format("{}, {} cores", member_text(input.context->host, "cpu"),
                                        member_text(input.context->host, "cores"))});
  if (record.fingerprint.is_object()) {
    for (const auto& [key, value] : record.fingerprint.items())
      rows.push_back({key, member_text(record.fingerprint, key.c_str())});
  }
  return rows;
}

TextRows split_rows(const Record& record) {
  TextRows rows = {{"role", "split", "SHA-256 of the examples", "examples", "of"}};
  for (const SplitFact& one : record.facts->splits)
    rows.push_back(
        {one.role, one.name, one.sha256.substr(0, 16), std::to_string(one.effective), std::to_string(one.original)});
  return rows;
}

}  // namespace

std::vector<DocBlock> alert_blocks(const ReportInput& input) {
  const Record& record = input.record;
  std::vector<DocBlock> blocks;
  const std::string state = record.state();
  if (state != "completed") {
    std::string text = fmt::format("PARTIAL: the run's state is \"{}\"; this is what there is so far.", state);
    if (!record.failed.empty())
      text += fmt::format(" {} failed.", count_text(static_cast<int64_t>(record.failed.size()), "point"));
    blocks.push_back(alert_block(text));
  }
  if (record.mixed_fingerprint)
    blocks.push_back(
        alert_block("Mixed fingerprint: attempts ran with different threads, device, number type or library, which can "
                    "change numbers."));
  if (record.facts) {
    for (const auto& pair : record.facts->shared_splits)
      blocks.push_back(alert_block(fmt::format("Shared splits: {} and {} are the same data.", pair[0], pair[1])));
  }
  return blocks;
}

std::vector<DocBlock> sensitivity_section(const ReportInput& input) {
  const Record& record = input.record;
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  if (groups.empty()) return {};
  const std::string metric = headline_metric(record);
  const bool higher = higher_is_better(record, metric);
  std::vector<DocBlock> blocks = {
      heading_block("Sensitivity"),
      paragraph_block(
          fmt::format("Change of {} from the unpruned model, paired on the same examples. {} numbers: {} {} "
                      "without these heads.",
                      metric, higher ? "Negative" : "Positive", metric, higher ? "falls" : "rises"))};
  std::vector<Figure> figures = sensitivity_figures(record);
  for (Figure& figure : table_curve_figures(record)) figures.push_back(std::move(figure));
  if (!figures.empty()) blocks.push_back(figures_block(figures));
  std::vector<DocBlock> others;
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    const std::string title = fmt::format("{}: {}", table.name, table_title(table));
    blocks.push_back(paragraph_block(title + ". " + join(table_notes(record, table, metric), " ")));
    blocks.push_back(table_block(sensitivity_rows(table, metric)));
    for (const MetricSummary& other : table.groups.front()->metrics) {
      if (other.name == metric) continue;
      others.push_back(paragraph_block(
          fmt::format("{}: change of {}. {}", title, other.name, join(table_notes(record, table, other.name), " "))));
      others.push_back(table_block(sensitivity_rows(table, other.name)));
    }
  }
  if (!others.empty()) blocks.push_back(fold_block("Sensitivity of the other metrics", std::move(others)));
  return blocks;
}

std::vector<DocBlock> agreement_section(const ReportInput& input) {
  const std::vector<AgreementGroup> groups = agreement_groups(input.agreement);
  const AgreementLines halves = agreement_lines(groups, "halves");
  TextRows methods = agreement_rows_of(agreement_lines(groups, "methods"), &halves),
           seeds = agreement_rows_of(agreement_lines(groups, "seeds"), nullptr),
           with_itself = agreement_rows_of(halves, nullptr);
  if (methods.empty() && seeds.empty() && with_itself.empty()) return {};
  std::vector<DocBlock> blocks = {heading_block("Agreement")};
  const std::vector<Figure> figures = agreement_figures(input.agreement);
  if (!figures.empty()) blocks.push_back(figures_block(figures));
  if (!methods.empty()) {
    blocks.push_back(paragraph_block(
        "Between methods on one model; p by permutation, where there is one seed. With several seeds: mean over them, "
        "or "
        "over those in which it is defined (of how many). "
        "Lower own rho: the lower of how far either method agrees with itself on two halves of the examples, each of "
        "which ranks by half of them: where that is low, the rankings are unstable, and a low agreement says little. "
        "Two "
        "methods on the same examples share their noise and can agree better than that."));
    blocks.push_back(table_block(std::move(methods)));
  }
  if (!with_itself.empty()) {
    blocks.push_back(paragraph_block(
        "Stability over examples: a method with itself, the score split's examples of even index against those of odd "
        "index. Each side has half of the examples, so the ranking by all of them is more stable than this."));
    blocks.push_back(table_block(std::move(with_itself)));
  }
  if (!seeds.empty()) {
    blocks.push_back(
        paragraph_block("Stability over seeds: a method with itself on the model that another seed fine-tuned, mean "
                        "over the pairs of seeds."));
    blocks.push_back(table_block(std::move(seeds)));
  }
  if (!heads_shared_by_seeds(input.record))
    blocks.push_back(
        paragraph_block("Rankings are not compared between seeds: each trained a model of its own, and a head's id in "
                        "one means nothing "
                        "in another."));
  return blocks;
}

std::vector<DocBlock> surgery_section(const ReportInput& input) {
  const Record& record = input.record;
  TextRows timing = timing_rows(record);
  if (record.surgery.empty() && timing.empty()) return {};
  std::vector<DocBlock> blocks = {heading_block("Heads removed for real")};
  const auto [worst, tolerance, unequal] = surgery_summary(record);
  if (!record.surgery.empty()) {
    const std::string text =
        fmt::format("{} compared with zero gates: the largest difference of any logit is {:.2g}, the tolerance {:.2g}.",
                    count_text(static_cast<int64_t>(record.surgery.size()), "mask"), worst, tolerance);
    blocks.push_back(unequal == 0 ? paragraph_block(text + " Masked equals removed.")
                                  : alert_block(fmt::format("{} {} NOT equal.", text, count_text(unequal, "mask"))));
  }
  if (timing.empty()) return blocks;
  blocks.push_back(figures_block(timing_figures(record)));
  blocks.push_back(table_block(std::move(timing)));
  blocks.push_back(
      paragraph_block("Speed is against intact. Attention FLOPs and parameters are shares of the intact model's; "
                      "feed-forward layers keep "
                      "their cost, so the speed-up stays below what attention alone would give. Masked heads are still "
                      "computed: no speed-up is expected of them." +
                      sides_sentence(record)));
  return blocks;
}

std::vector<DocBlock> training_section(const ReportInput& input) {
  const std::vector<Figure> figures = training_figures(input.training);
  if (figures.empty()) return {};
  return {heading_block("Training"), figures_block(figures)};
}

std::vector<DocBlock> warning_section(const ReportInput& input) {
  const Record& record = input.record;
  std::vector<std::string> items;
  for (const Warning& warning : record.warnings) items.push_back(fmt::format("{}: {}", warning.code, warning.message));
  for (const auto& [point, failure] : record.failed)
    items.push_back(fmt::format("point {} failed ({}): {}", point, failure.reason, failure.message));
  for (const auto& [point, skipped] : record.skipped)
    items.push_back(fmt::format("point {} skipped: {}", point, skipped.reason));
  if (record.facts) {
    for (const SplitFact& one : record.facts->splits) {
      if (!one.note.empty()) items.push_back(fmt::format("{} split: {}", one.role, one.note));
    }
  }
  if (const auto base = base_metric(record, headline_metric(record)); base && base->seeds.size() == 1)
    items.push_back(seeds_sentence(record, *base));
  std::vector<DocBlock> blocks = {heading_block("Warnings and limits")};
  blocks.push_back(items.empty() ? paragraph_block("None.") : list_block(items));
  return blocks;
}

std::vector<DocBlock> origin_section(const ReportInput& input) {
  std::vector<DocBlock> blocks = {heading_block("Where it came from"), code_block(commands(input)),
                                  table_block(facts_rows(input), 2)};
  if (input.record.facts) blocks.push_back(table_block(split_rows(input.record), 3));
  const bool origins_known = input.context && !input.context->config_origins.empty();
  if (!input.config_yaml.empty() && !origins_known)
    blocks.push_back(fold_block("Effective configuration", {code_block(input.config_yaml)}));
  if (!input.context) return blocks;
  std::vector<DocBlock> origins;
  std::vector<std::string> overrides;
  for (const std::string& override : input.context->overrides) overrides.push_back(override);
  origins.push_back(
      paragraph_block("Values come, later ones winning, from the program's defaults, the files that the experiment "
                      "extends, the experiment file, and overrides of the command line."));
  origins.push_back(overrides.empty() ? paragraph_block("Overrides: none.")
                                      : paragraph_block("Overrides: " + join(overrides, " ")));
  if (origins_known) {
    origins.push_back(paragraph_block(
        "The effective configuration; in brackets the file, line and column that set a value, or override and its "
        "number on the command line."));
    origins.push_back(code_block(input.context->config_origins));
  }
  for (const Json& file : input.context->config_files) {
    origins.push_back(paragraph_block(
        fmt::format("{} (SHA-256 {})", member_text(file, "path"), member_text(file, "sha256").substr(0, 16))));
    origins.push_back(code_block(member_text(file, "text")));
  }
  blocks.push_back(
      fold_block(origins_known ? "Effective configuration, and where each value was set" : "Where each value was set",
                 std::move(origins)));
  return blocks;
}

}  // namespace headprune
