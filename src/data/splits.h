// What all sources share once they have read their parts: which part each role uses, seeded samples of it, and the
// assembled Dataset.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "config/fields.h"
#include "data/dataset.h"

namespace headprune {

/// A part of a source's data.
enum class Part { train, dev, test };
template <>
struct EnumNames<Part> {
  static constexpr std::pair<const char*, Part> names[] = {
      {"train", Part::train}, {"dev", Part::dev}, {"test", Part::test}};
};
inline constexpr std::array kParts = {Part::train, Part::dev, Part::test};

/// That of one part, of an options struct with one field a part: train, dev, test.
template <class Parts>
const auto& part_of(const Parts& parts, Part part) {
  if (part == Part::train) return parts.train;
  return part == Part::dev ? parts.dev : parts.test;
}

/// The part that each role reads.
struct RoleParts {
  Part score = Part::train, select = Part::dev, report = Part::test;

  template <class V>
  void fields(V& v) {
    v("score", score, "part on which importances are computed");
    v("select", select, "part on which choices are made and training is evaluated");
    v("report", report, "part from which reported numbers come");
  }
};

/// At most so many examples for each role.
struct RoleLimits {
  std::optional<int64_t> train, score, select, report;

  template <class V>
  void fields(V& v) {
    v("train", train, "train on a seeded sample of this many examples", at_least(1));
    v("score", score, "score on a seeded sample of this many examples", at_least(1));
    v("select", select, "select on a seeded sample of this many examples", at_least(1));
    v("report", report, "report on a seeded sample of this many examples", at_least(1));
  }
};

/// Options of every source; its fields stand beside the source's own.
struct RoleOptions {
  RoleParts splits;
  RoleLimits limit;

  template <class V>
  void fields(V& v) {
    v("splits", splits, "part of the data (train, dev or test) that each role uses");
    v("limit", limit, "use a sample: the same one for every seed of the experiment, in the original order");
  }
  bool uses(Part part) const {
    return part == Part::train || splits.score == part || splits.select == part || splits.report == part;
  }
};

/// Examples as a source read them.
using PartExamples = std::array<std::vector<Example>, kParts.size()>;  // indexed by Part
std::vector<Example>& examples_of(PartExamples& parts, Part part);

/// Gives every role of `dataset` its split and checks that none is empty. A role with a limit gets a sample of its own,
/// drawn from the stream "data/limit/<role>" of `seed`; roles that read the same whole part share one Split. Logs
/// sizes and describes the splits (data/describe.h). Throws Error(run_failed) for a role without examples, or with
/// examples that are all alike.
void assign_roles(Dataset& dataset, PartExamples parts, const RoleOptions& options, uint64_t seed);

/// `count` of the indices 0 ... n - 1, drawn without replacement from the stream `name` of `seed`, ascending.
std::vector<int64_t> seeded_sample(int64_t n, int64_t count, uint64_t seed, const std::string& name);

/// The indices, of n, that a role with a limit reads.
std::vector<int64_t> limit_sample(int64_t n, int64_t limit, uint64_t seed, const std::string& role);

/// Dataset::name of data at a path: the name of the file or folder.
std::string data_name(const std::filesystem::path& path);

/// Keeps a warning in the dataset, for the record, and logs it.
void warn(Dataset& dataset, const std::string& text);

}  // namespace headprune
