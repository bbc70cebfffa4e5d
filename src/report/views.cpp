#include "report/views.h"

#include "core/files.h"
#include "report/results_json.h"
#include "report/scores_file.h"
#include "report/tables.h"

namespace headprune {

void write_views(const fs::path& run_folder) {
  const Record record = read_record(run_folder);
  const std::vector<AgreementRow> agreement = agreement_rows(record);
  write_file(run_folder / "scores.csv", scores_csv(record));
  write_file(run_folder / "curve.csv", curve_csv(record));
  write_file(run_folder / "sensitivity.csv", sensitivity_csv(record));
  write_file(run_folder / "agreement.csv", agreement_csv(agreement));
  write_file(run_folder / "timing.csv", timing_csv(record));
  write_file(run_folder / "scores.safetensors", scores_safetensors(record));
  write_file(run_folder / "metrics.json", dump_json_file(metrics_json(record, agreement)));
  write_file(run_folder / "results.json", dump_json_file(results_json(record, agreement)));
}

}  // namespace headprune
