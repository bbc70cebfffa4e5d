// The patterns that a layer can be given, by name: what an experiment says of each (`model.attention`), config.json
// keeps, and make_pattern() builds from. One file each has what it does: local_pattern.h, sparse_patterns.h.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "config/one_or_list.h"
#include "config/registry.h"
#include "model/pattern.h"

namespace headprune {

/// Every key, or every key up to the query's own.
struct FullOptions {
  static constexpr const char* kName = "full";
  template <class V>
  void fields(V&) {}
  bool operator==(const FullOptions&) const = default;
};

/// In a decoder the last `window` keys, the query's own among them: i - window < j <= i. In an encoder those at most
/// `window` away: |i - j| <= window.
struct LocalOptions {
  static constexpr const char* kName = "local";
  int64_t window = 0;

  template <class V>
  void fields(V& v) {
    v("window", window,
      "decoder: keys that a query sees, its own among them; encoder: how far away a key may stand, on either side",
      between(1, 16777216), required);
  }
  bool operator==(const LocalOptions&) const = default;
};

/// What a head of a strided layer looks at (Child et al. 2019, section 4.2): the last keys, or every stride-th.
enum class StridedHead { local, strided };
template <>
struct EnumNames<StridedHead> {
  static constexpr std::pair<const char*, StridedHead> names[] = {{"local", StridedHead::local},
                                                                  {"strided", StridedHead::strided}};
};
struct StridedOptions {
  static constexpr const char* kName = "strided";
  int64_t stride = 0;
  std::vector<StridedHead> heads = {StridedHead::local, StridedHead::strided};

  template <class V>
  void fields(V& v) {
    v("stride", stride, "l: a local head sees l keys before its query and the query's own, a strided head every l-th",
      between(1, 16777216), required);
    v("heads", heads, "kinds of head, given to the heads of a layer in turn", not_empty);
  }
  bool operator==(const StridedOptions&) const = default;
};

/// What a head of a fixed layer looks at (the same section): its query's block, or the last keys of every block.
enum class FixedHead { block, summary };
template <>
struct EnumNames<FixedHead> {
  static constexpr std::pair<const char*, FixedHead> names[] = {{"block", FixedHead::block},
                                                                {"summary", FixedHead::summary}};
};
struct FixedOptions {
  static constexpr const char* kName = "fixed";
  int64_t stride = 0;
  int64_t summary = 0;
  std::vector<FixedHead> heads = {FixedHead::block, FixedHead::summary};

  template <class V>
  void fields(V& v) {
    v("stride", stride, "l: tokens of a block", between(1, 16777216), required);
    v("summary", summary, "c: the last tokens of each block, which summary heads see", between(1, 16777216), required);
    v("heads", heads, "kinds of head, given to the heads of a layer in turn", not_empty);
  }
  std::string check() const {
    return summary <= stride ? "" : fmt::format("summary {} is more than a block has, stride {}", summary, stride);
  }
  bool operator==(const FixedOptions&) const = default;
};

using PatternOptions = std::variant<FullOptions, LocalOptions, StridedOptions, FixedOptions>;

/// Where a pattern is to stand.
struct PatternPlace {
  bool causal = false;  // the layers of a decoder: no query sees what comes later
  int64_t heads = 1;    // of the intact block
};
std::shared_ptr<const Pattern> make_pattern(const PatternOptions& options, const PatternPlace& place);

/// "local"
std::string pattern_name(const PatternOptions& options);
/// {"local": {"window": 64}}
Json pattern_json(const PatternOptions& options);
/// The reverse. Throws Error(run_failed) naming `where`.
PatternOptions pattern_from_json(const Json& json, const std::string& where);
/// From what length of text on it differs from `full`; 0 where it is `full`.
int64_t differs_from(const PatternOptions& options, bool causal);

/// A pattern in an experiment: its name, or {name: options}.
class PatternChoice {
 public:
  virtual ~PatternChoice() = default;
  virtual PatternOptions options() const = 0;
};
/// One for all layers, or one for each.
using LayerPatterns = OneOrList<PluginItem<PatternChoice>>;
std::vector<PatternOptions> pattern_options(const LayerPatterns& chosen);

template <>
inline Value bind_value<LayerPatterns>(LayerPatterns& member) {
  return std::make_shared<detail::BoundOneOrList<PluginItem<PatternChoice>>>(member);
}

}  // namespace headprune
