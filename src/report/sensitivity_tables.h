// Sensitivity tables as rows: layers x heads, layers x fractions, or one line a block.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/groups.h"
#include "report/text_table.h"

namespace headprune {

/// What sensitivity_q() gives: q by point and metric.
using SensitivityQ = std::map<std::pair<std::string, std::string>, double>;

/// One table of the configuration, of one method where it ranks by one.
struct SensitivityTable {
  std::string name, method;
  std::vector<const PointGroup*> groups;  // of what the table was made from
};

std::vector<SensitivityTable> sensitivity_tables(const std::vector<PointGroup>& groups);

/// Changes from the unpruned model; * where q < 0.05 in every member, ~ where in some.
TextRows sensitivity_rows(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q);

/// "each head removed alone"
std::string table_title(const SensitivityTable& table);

/// What the marks mean, and how many there are; says so when no test was possible.
std::string marks_sentence(const SensitivityTable& table, const std::string& metric, const SensitivityQ& q);

}  // namespace headprune
