#include "report/views.h"

#include "core/files.h"
#include "report/report.h"
#include "report/results_json.h"
#include "report/scores_file.h"
#include "report/tables.h"

namespace headprune {
namespace {

void write_report(const ReportInput& input, const fs::path& to) {
  const Document document = report_document(input);
  make_folders(to / "plots");
  for (const Figure& figure : figures_of(document)) write_file(to / "plots" / figure.file, figure.document());
  write_file(to / "report.md", report_markdown(document, input.record));
  write_file(to / "report.html", document_html(document));
}

}  // namespace

void write_views(const fs::path& run_folder, const fs::path& to) {
  const Record record = read_record(run_folder);
  const ReportInput input = read_report_input(run_folder, record);
  make_folders(to);
  write_file(to / "scores.csv", scores_csv(record));
  write_file(to / "curve.csv", curve_csv(record));
  write_file(to / "sensitivity.csv", sensitivity_csv(record));
  write_file(to / "agreement.csv", agreement_csv(input.agreement));
  write_file(to / "timing.csv", timing_csv(record));
  write_file(to / "scores.safetensors", scores_safetensors(record));
  write_report(input, to);
  write_file(to / "metrics.json", dump_json_file(metrics_json(record, input.agreement)));
  write_file(to / "results.json", dump_json_file(results_json(record, input.agreement)));
}

void write_views(const fs::path& run_folder) { write_views(run_folder, run_folder); }

}  // namespace headprune
