// The part "pruning" of results.json.
#pragma once

#include <vector>

#include "record/journal.h"
#include "report/numbers/agreement_rows.h"

namespace headprune {

/// curves, sensitivity, agreement, surgery, timing, scores, directions, ties, cost (docs/formats.md section 9).
Json pruning_json(const Record& record, const std::vector<AgreementRow>& agreement);

}  // namespace headprune
