#include "report/stored_run.h"

#include "core/files.h"
#include "record/run_folder.h"

namespace headprune::testing {

void store_run(const std::filesystem::path& folder, const Record& record) {
  make_folders(folder);
  RunContext context;
  context.name = folder.filename().string();
  context.experiment_id = record.experiment_id;
  context.fingerprint = record.fingerprint;
  const std::string run_sha256 = write_run_context(folder, context);
  write_file(folder / kConfig, "name: toy\n", Sync::no);
  Journal journal(folder);
  journal.run_start(record.experiment_id, run_sha256);
  journal.env(record.fingerprint);
  journal.facts(*record.facts);
  for (const auto& [key, score] : record.scores) {
    for (const auto& [id, block] : score.blocks) journal.score(block);
    journal.score_done(*score.done);
  }
  for (const auto& [id, point] : record.points) {
    journal.point_start(id, point.spec);
    journal.point_done(point);
  }
  for (const auto& [id, result] : record.surgery) journal.surgery(result);
  for (const auto& [key, result] : record.timing) journal.timing(result);
  for (const Warning& warning : record.warnings) journal.warn(warning);
  if (record.done) journal.run_done(*record.done);
}

}  // namespace headprune::testing
