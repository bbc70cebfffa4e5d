#include "report/views.h"

#include <fmt/format.h>

#include "core/files.h"
#include "report/numbers/roles.h"
#include "report/tables/contest_table.h"
#include "report/tables/matrices_file.h"
#include "report/tables/method_pairs.h"
#include "report/tables/results_json.h"
#include "report/tables/scores_file.h"
#include "report/tables/tables.h"
#include "report/tensorboard/tensorboard.h"

namespace headprune {
namespace {

void drop_figures(std::vector<DocBlock>& blocks) {
  std::erase_if(blocks, [](const DocBlock& block) { return block.kind == DocBlock::Kind::figures; });
  for (DocBlock& block : blocks) drop_figures(block.inside);
}

/// The views that the experiment asks for in report.formats; all of them where that is not recorded.
void write_report(const ReportInput& input, const fs::path& to, FileBatch& files) {
  const auto wanted = [&](const char* format) { return !input.record.facts || input.record.facts->has_format(format); };
  // A run writes its own tb/ while it goes on, and a reader may have it open.
  if (wanted("tensorboard") && !fs::exists(to / "tb")) {
    FolderWriter folder(to / "tb");
    for (const auto& [name, bytes] : tensorboard_files(input)) folder.write(name, bytes);
    folder.commit();
  }
  if (!wanted("html") && !wanted("md") && !wanted("svg")) return;
  Document document = report_document(input);
  if (wanted("html")) files.write(to / "report.html", document_html(document));
  if (wanted("svg")) {
    make_folders(to / "plots");
    for (const Figure& figure : figures_of(document)) files.write(to / "plots" / figure.file, figure.document());
  } else {
    drop_figures(document.blocks);
  }
  if (wanted("md")) files.write(to / "report.md", report_markdown(document, input.record));
}

}  // namespace

void write_views(const ReportInput& input, const fs::path& to) {
  const Record& record = input.record;
  make_folders(to);
  FileBatch files;
  files.write(to / "scores.csv", scores_csv(record));
  files.write(to / "curve.csv", curve_csv(record));
  files.write(to / "methods.csv", methods_csv(record));
  files.write(to / "contest.csv", contest_csv(record));
  files.write(to / "sensitivity.csv", sensitivity_csv(record));
  files.write(to / "agreement.csv", agreement_csv(input.agreement));
  files.write(to / "timing.csv", timing_csv(record));
  if (const std::vector<std::string> labels = analysis_labels(record); !labels.empty()) {
    make_folders(to / "analysis");
    for (const std::string& label : labels)
      files.write(to / "analysis" / (label + ".csv"), analysis_csv(record, label));
    for (const std::string& label : matrix_labels(record))
      files.write(to / "analysis" / (label + ".safetensors"), matrices_safetensors(record, label));
    for (const RecordedAnalysis* analysis : shown_analyses(record))
      for (const AnalysisTable& table : analysis->done->tables) {
        const std::string& label = analysis->done->analysis;
        files.write(to / "analysis" / fmt::format("{}-{}.csv", label, table.name),
                    analysis_table_csv(record, label, table.name));
      }
    files.write(to / "roles.csv", roles_csv(record));
    files.write(to / "role_agreement.csv", role_agreement_csv(input.role_agreement));
    files.write(to / "role_survival.csv", role_survival_csv(record));
  }
  files.write(to / "scores.safetensors", scores_safetensors(record));
  write_report(input, to, files);
  files.write(to / "metrics.json", dump_json_file(metrics_json(record, input.agreement)));
  files.write(to / "results.json", dump_json_file(results_json(record, input.agreement)));
  files.commit();
}

void write_views(const fs::path& run_folder, const fs::path& to) {
  const Record record = read_record(run_folder);
  write_views(read_report_input(run_folder, record), to);
}

void write_views(const fs::path& run_folder) { write_views(run_folder, run_folder); }

}  // namespace headprune
