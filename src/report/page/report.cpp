#include "report/page/report.h"

#include <fmt/format.h>

#include <set>

#include "core/files.h"
#include "core/open_file.h"
#include "report/numbers/groups.h"
#include "report/page/report_sections.h"
#include "report/text/markup.h"

namespace headprune {
namespace {

std::string report_title(const ReportInput& input) {
  if (input.context) return input.context->name;
  return input.record.facts ? input.record.facts->task : "run";
}

/// |Tasks|Version|Filter|n-shot|Metric|↑|Value|±|Stderr| as lm-evaluation-harness prints it.
std::string harness_table(const Record& record) {
  std::string out =
      "|Tasks|Version|Filter|n-shot|Metric|   | Value |   "
      "|Stderr|\n|-----|------:|------|-----:|------|---|------:|---|-----:|\n";
  const std::optional<PointGroup> base = base_group(record);
  if (!base || !record.facts) return out;
  std::string task = record.facts->task, version = "1";
  for (const MetricSummary& metric : base->metrics) {
    const Estimate& estimate = metric.estimate;
    out += fmt::format("|{}|{}|none|0|{}|{}|{:.4f}|±|{}|\n", markdown_escape(task), version, metric.name,
                       higher_is_better(record, metric.name) ? "↑" : "↓", estimate.value,
                       estimate.stderr_ ? fmt::format("{:.4f}", *estimate.stderr_) : "N/A");
    task.clear();
    version.clear();
  }
  return out;
}

void collect_figures(const std::vector<DocBlock>& blocks, std::set<std::string>& seen, std::vector<Figure>& figures) {
  for (const DocBlock& block : blocks) {
    for (const Figure& figure : block.figures) {
      if (seen.insert(figure.file).second) figures.push_back(figure);
    }
    collect_figures(block.inside, seen, figures);
  }
}

}  // namespace

ReportInput read_report_input(const std::filesystem::path& run_folder, const Record& record) {
  ReportInput input{record, agreement_rows(record), {}, "", read_train_log(run_folder), role_agreement(record)};
  if (fs::exists(run_folder / kRunJson)) input.context = read_run_context(run_folder);
  if (fs::exists(run_folder / kConfig)) input.config_yaml = read_file_up_to(run_folder / kConfig, kMaxJsonFile);
  return input;
}

Document report_document(const ReportInput& input) {
  Document document;
  document.title = report_title(input);
  document.blocks = alert_blocks(input);
  document.blocks.push_back(list_block(summary_lines(input)));
  for (const auto section : {baseline_section, curve_section, contest_section, mask_section, score_section,
                             role_section, sensitivity_section, agreement_section, surgery_section, training_section,
                             data_section, warning_section, origin_section}) {
    for (DocBlock& block : section(input)) document.blocks.push_back(std::move(block));
  }
  return document;
}

std::string report_markdown(const Document& document, const Record& record) {
  return harness_table(record) + "\n# " + markdown_escape(document.title) + "\n\n" + document_markdown(document);
}

std::vector<Figure> figures_of(const Document& document) {
  std::set<std::string> seen;
  std::vector<Figure> figures;
  collect_figures(document.blocks, seen, figures);
  return figures;
}

}  // namespace headprune
