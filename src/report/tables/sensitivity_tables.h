// Sensitivity tables as rows: layers x heads, layers x fractions, or one line a block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/numbers/groups.h"
#include "report/text/text_table.h"

namespace headprune {

/// One table of the configuration, of one method where it ranks by one, and of one seed where heads are told apart.
struct SensitivityTable {
  std::string name, method;
  Shown shown = Shown::blocks;
  std::optional<int64_t> seed;
  std::vector<const PointGroup*> groups;  // of what the table was made from
};

std::vector<SensitivityTable> sensitivity_tables(const std::vector<PointGroup>& groups);

/// Changes from the unpruned model; * where q < 0.05 over the table.
TextRows sensitivity_rows(const SensitivityTable& table, const std::string& metric);

/// "each head removed alone"
std::string table_title(const SensitivityTable& table);

/// What the stars mean, how many there are, and what could have got one; says so when no test was possible.
std::vector<std::string> table_notes(const Record& record, const SensitivityTable& table, const std::string& metric);

}  // namespace headprune
