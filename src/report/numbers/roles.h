// What analyses say that heads do, from the record: rows of roles.csv and analysis/, and which roles survive a sweep.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/record.h"

namespace headprune {

/// A head with one role and the number that says so.
struct RoleRow {
  int64_t seed = 0;
  std::string analysis;
  RoleFact fact;
  ShareFact share;
};
/// Of every seed whose model differs from the others'; by seed, analysis, role, head.
std::vector<RoleRow> role_rows(const Record& record);

/// Complete analyses of the record, those that views show: of seeds that differ in nothing, the first one's.
std::vector<const RecordedAnalysis*> shown_analyses(const Record& record);

/// Of all heads that an analysis looked at, in the order of its matrices.
std::vector<std::string> head_names(const RecordedAnalysis& analysis);

/// How many of a role's heads a point of a sweep keeps.
struct RoleSurvival {
  const PointResult* point = nullptr;
  std::string analysis, role;
  int64_t kept = 0, of = 0;
  double expected = 0;  // of heads drawn at random, as many as the point keeps
};
/// By seed, sweep, method, draw, heads removed; then analysis, role.
std::vector<RoleSurvival> role_survival(const Record& record);

std::string roles_csv(const Record& record);
/// Of one analysis, a row for every head and column.
std::string analysis_csv(const Record& record, const std::string& analysis);
/// Labels of the analyses that have a complete result.
std::vector<std::string> analysis_labels(const Record& record);
/// A table of one, of each model's that is shown: its columns behind the seed.
std::string analysis_table_csv(const Record& record, const std::string& analysis, const std::string& table);
std::string role_survival_csv(const Record& record);

}  // namespace headprune
