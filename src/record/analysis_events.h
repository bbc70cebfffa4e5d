// What the journal says of what heads do: numbers of an analysis, a block a line, and at its end the roles that it
// found. As events.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/heads.h"
#include "core/json.h"
#include "stats/estimate.h"

namespace headprune {

/// One column of an analysis, of one block.
struct AnalysisColumn {
  std::string name;
  std::vector<double> values;     // [heads]
  std::vector<double> stderrs;    // [heads], or empty where there are none
  std::optional<double> uniform;  // what a head would have that looks at all it sees alike
  int64_t n = 0, examples = 0;    // queries counted, and the texts that they stand in; 0 of numbers that are no mean

  /// Of head `at`, a number between 0 and 1: with a 95 % interval that stays there, over texts.
  Estimate share(size_t at) const;
  Json to_json() const;
  static AnalysisColumn from_json(const Json& json);
};

struct AnalysisBlock {
  int64_t seed = 0;
  std::string analysis;        // its label
  BlockId block;               // kind, layer
  std::vector<int64_t> heads;  // original ids
  std::vector<AnalysisColumn> columns;

  /// Null where the analysis says nothing under that name of this block.
  const AnalysisColumn* column(const std::string& name) const;
  Json to_json() const;
  static AnalysisBlock from_json(const Json& json);
};

/// That a head does something, as one column says.
struct RoleFact {
  HeadId head;
  std::string role;    // "positional"
  std::string detail;  // "offset -1"; may be empty
  std::string column;  // of the same analysis

  bool operator==(const RoleFact&) const = default;
  Json to_json() const;
  static RoleFact from_json(const Json& json);
};

/// All blocks of an analysis are there.
struct AnalysisDone {
  int64_t seed = 0;
  std::string analysis;
  std::vector<RoleFact> roles;
  std::vector<std::string> notes;
  int64_t examples = 0, forward = 0;
  double dur_s = 0;

  Json to_json() const;
  static AnalysisDone from_json(const Json& json);
};

}  // namespace headprune
