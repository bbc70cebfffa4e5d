// What the examples of one split look like, for people who want to see whether the file was read as they meant it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// Texts of one side, in tokens, special ones included.
struct TextLengthSummary {
  int64_t median = 0, longest = 0;
  int64_t tokens = 0;   // of all examples, without special ones
  int64_t unknown = 0;  // of those
};

/// One split, whichever roles use it. A text is the tokens that a model reads of an example, of a translation on both
/// sides: what it cannot tell apart counts as the same.
struct SplitSummary {
  std::vector<std::string> roles;  // train, score, select, report
  std::string part;                // train, dev, test
  int64_t examples = 0, original = 0;
  std::vector<std::pair<std::string, int64_t>> labels;  // classification: each with its examples, in output order
  std::optional<std::array<double, 3>> numbers;         // regression: smallest, mean and largest
  TextLengthSummary texts;                              // of a translation: the source
  std::optional<TextLengthSummary> targets;             // translation
  int64_t repeated = 0;                                 // examples whose text stood before in the split
  int64_t contradicting = 0;                            // of those, with another label, number or translation
  /// Examples whose text stands in another part too, by the part.
  std::vector<std::pair<std::string, int64_t>> shared;

  Json to_json() const;
  static SplitSummary from_json(const Json& json);
  /// One line for people: "train, score (train part): 6920 examples; ...".
  std::string text() const;
};

}  // namespace headprune
