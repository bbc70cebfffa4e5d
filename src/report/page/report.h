// report.md and report.html: a run for a reader (docs/formats.md section 9).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/journal.h"
#include "record/run_folder.h"
#include "record/train_log.h"
#include "report/numbers/agreement_rows.h"
#include "report/numbers/role_agreement.h"
#include "report/page/document.h"

namespace headprune {

/// Everything a report is made of.
struct ReportInput {
  const Record& record;
  std::vector<AgreementRow> agreement;
  std::optional<RunContext> context;  // run.json; absent where a copy lacks it
  std::string config_yaml;            // effective configuration; empty where a copy lacks it
  std::vector<TrainRow> training;
  std::vector<RoleAgreement> role_agreement = {};
};
ReportInput read_report_input(const std::filesystem::path& run_folder, const Record& record);

/// Works for a run of any state, and says PARTIAL unless it is completed.
Document report_document(const ReportInput& input);

/// Opens with lm-evaluation-harness's table, which its readers look for.
std::string report_markdown(const Document& document, const Record& record);

/// The figures of a document, each once.
std::vector<Figure> figures_of(const Document& document);

}  // namespace headprune
