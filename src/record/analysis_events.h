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

/// A number between 0 and 1 that was measured on texts, or a difference of two.
struct ShareFact {
  double value = 0;
  std::optional<double> stderr_;   // over texts
  std::optional<double> baseline;  // what it is compared with
  int64_t n = 0, examples = 0;     // what was counted, and the texts that it stands in
  bool difference = false;         // between -1 and 1

  /// With a 95 % interval that stays in [0, 1]: Wilson's, with the effective n. Of a difference, the normal one that
  /// stays in [-1, 1].
  Estimate estimate() const;
  bool operator==(const ShareFact&) const = default;
  Json to_json() const;
  static ShareFact from_json(const Json& json);
};

/// One column of an analysis, of one block.
struct AnalysisColumn {
  std::string name;
  std::vector<double> values;      // [heads]
  std::vector<double> stderrs;     // [heads], or empty where there are none
  std::optional<double> baseline;  // what the numbers are compared with
  int64_t n = 0, examples = 0;     // queries counted, and the texts that they stand in; 0 of numbers that are no mean
  bool difference = false;         // of two shares

  /// Of head `at`.
  ShareFact share(size_t at) const;
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
  std::string role;                        // "positional"
  std::string detail;                      // "offset -1"; may be empty
  std::string column;                      // of the same analysis
  std::optional<ShareFact> evidence = {};  // where it is not the column's own number, but that of other texts

  bool operator==(const RoleFact&) const = default;
  Json to_json() const;
  static RoleFact from_json(const Json& json);
};

/// The column that says how much of a role a head has.
struct RoleStrength {
  std::string role, column;
};

/// What an analysis found that is no number of one head. Cells are text, numbers or null.
struct AnalysisTable {
  std::string name;
  std::vector<std::string> header;
  std::vector<std::vector<Json>> rows;

  Json to_json() const;
  static AnalysisTable from_json(const Json& json);
};

/// One number for every two heads, of all blocks in their order.
struct HeadMatrix {
  std::string name;
  bool similarity = false;  // the distance of two heads is 1 less the number, from 0 on; else the number itself
  /// Where clusters are made by it: what average linkage joins at no more than this share of its largest distance.
  std::optional<double> cut = {};
  std::vector<std::vector<double>> rows;  // of each head, its own and those of the heads before it; NaN: not comparable

  int64_t heads() const { return static_cast<int64_t>(rows.size()); }
  /// [heads heads] row by row, symmetric.
  std::vector<double> values() const;
  std::vector<double> distances() const;
};

/// A row of a matrix; they follow each other, so that each is of one head more than the one before it.
struct MatrixRow {
  int64_t seed = 0;
  std::string analysis, matrix;
  bool similarity = false;
  std::optional<double> cut = {};
  std::vector<double> values;

  Json to_json() const;
  static MatrixRow from_json(const Json& json);
};

/// Throws Error(run_failed) where the row does not follow those that are there.
void add_row(std::vector<HeadMatrix>& matrices, const MatrixRow& row);
/// Throws Error(run_failed) where a matrix is not of so many heads.
void require_whole(const std::vector<HeadMatrix>& matrices, int64_t heads);

/// All blocks of an analysis are there.
struct AnalysisDone {
  int64_t seed = 0;
  std::string analysis;
  std::vector<RoleFact> roles;
  std::vector<RoleStrength> strengths;
  std::vector<AnalysisTable> tables;
  std::vector<std::string> notes;
  int64_t examples = 0, forward = 0;
  double dur_s = 0;

  Json to_json() const;
  static AnalysisDone from_json(const Json& json);
};

}  // namespace headprune
