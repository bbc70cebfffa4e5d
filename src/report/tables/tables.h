// The CSV files of a run folder, columns and order as docs/formats.md section 8. Each is the whole text of the file; a
// record without such measurements gives the header alone.
#pragma once

#include <string>
#include <vector>

#include "record/journal.h"
#include "report/numbers/agreement_rows.h"

namespace headprune {

std::string scores_csv(const Record& record);
std::string curve_csv(const Record& record);
std::string sensitivity_csv(const Record& record);
std::string agreement_csv(const std::vector<AgreementRow>& rows);
std::string timing_csv(const Record& record);

/// Heads from first to be removed (0) to last: ascending score, ties by kind, layer, head. Empty while blocks are
/// missing.
std::map<HeadId, int64_t> removal_order(const RecordedScore& score);

}  // namespace headprune
