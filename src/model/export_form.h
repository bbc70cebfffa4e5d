// In which forms a pruned model is exported (docs/formats.md section 6).
#pragma once

#include "config/fields.h"

namespace headprune {

/// compact: rows of query, key, value and columns of the output projection are gone. zeroed: shapes stay, the output
/// columns of removed heads are 0. For families whose config.json states heads apart from their width there are two
/// more. padded: every layer has as many groups, and every group as many query heads, as the largest; what is missing
/// is filled up with heads whose output columns are 0. degroup: every query head has a copy of its group's keys and
/// values.
enum class ExportForm { compact, zeroed, padded, degroup };
template <>
struct EnumNames<ExportForm> {
  static constexpr std::pair<const char*, ExportForm> names[] = {{"compact", ExportForm::compact},
                                                                 {"zeroed", ExportForm::zeroed},
                                                                 {"padded", ExportForm::padded},
                                                                 {"degroup", ExportForm::degroup}};
};

}  // namespace headprune
