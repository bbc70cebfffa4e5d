#include "model/pattern_options.h"

#include <algorithm>

#include "config/dump.h"
#include "core/error.h"
#include "core/text.h"
#include "model/json_reader.h"
#include "model/local_pattern.h"
#include "model/sparse_patterns.h"

namespace headprune {
namespace {

template <class O>
class Chosen final : public PatternChoice {
 public:
  using Options = O;
  explicit Chosen(O options) : options_(std::move(options)) {}
  PatternOptions options() const override { return options_; }

 private:
  O options_;
};

template <class O>
using RegisterPattern = Register<PatternChoice, Chosen<O>>;

const RegisterPattern<FullOptions> register_full{FullOptions::kName, "every key; in a decoder those up to the query"};
const RegisterPattern<LocalOptions> register_local{LocalOptions::kName, "the keys near the query"};
const RegisterPattern<StridedOptions> register_strided{
    StridedOptions::kName, "heads that see the last keys, and heads that see every l-th (Sparse Transformer)"};
const RegisterPattern<FixedOptions> register_fixed{
    FixedOptions::kName, "heads that see the query's block, and heads that see the end of each (Sparse Transformer)"};

struct Make {
  const PatternPlace& place;

  std::shared_ptr<const Pattern> operator()(const FullOptions&) const {
    return place.causal ? causal_pattern() : full_pattern();
  }
  std::shared_ptr<const Pattern> operator()(const LocalOptions& local) const {
    return local_pattern(place.causal ? Reach{.back = local.window - 1, .ahead = 0}
                                      : Reach{.back = local.window, .ahead = local.window});
  }
  std::shared_ptr<const Pattern> operator()(const StridedOptions& strided) const {
    return strided_pattern(strided, place);
  }
  std::shared_ptr<const Pattern> operator()(const FixedOptions& fixed) const { return fixed_pattern(fixed, place); }
};

struct FirstLength {
  bool causal;

  int64_t operator()(const FullOptions&) const { return 0; }
  int64_t operator()(const LocalOptions& local) const { return causal ? local.window + 1 : local.window + 2; }
  int64_t operator()(const StridedOptions& strided) const {
    const bool looks_near = std::count(strided.heads.begin(), strided.heads.end(), StridedHead::strided) == 0;
    return looks_near || strided.stride == 1 ? strided.stride + 2 : 2;
  }
  int64_t operator()(const FixedOptions& fixed) const {
    const bool of_block = std::count(fixed.heads.begin(), fixed.heads.end(), FixedHead::summary) == 0;
    return of_block || fixed.summary == fixed.stride ? fixed.stride + 1 : 1;
  }
};

/// The alternative of that name with the fields of `json`.
template <size_t I = 0>
PatternOptions read_alternative(const std::string& name, const Json& json, const std::string& where) {
  if constexpr (I < std::variant_size_v<PatternOptions>) {
    std::variant_alternative_t<I, PatternOptions> options;
    if (name != options.kName) return read_alternative<I + 1>(name, json, where);
    JsonReader reader(json, where);
    options.fields(reader);
    const CrossProblems problems = cross_problems(options);
    if (!problems.empty()) fail(ExitCode::run_failed, "{}: attention: {}", where, problems.front().second);
    return options;
  }
  fail(ExitCode::run_failed, "{}: attention: there is no pattern '{}'; known are {}", where, name,
       join(Registry<PatternChoice>::instance().names(), ", "));
}

}  // namespace

std::shared_ptr<const Pattern> make_pattern(const PatternOptions& options, const PatternPlace& place) {
  return std::visit(Make{place}, options);
}

std::string pattern_name(const PatternOptions& options) {
  return std::visit([](const auto& one) { return std::string(one.kName); }, options);
}

Json pattern_json(const PatternOptions& options) {
  return {{pattern_name(options), std::visit([](const auto& one) { return config_json(one); }, options)}};
}

PatternOptions pattern_from_json(const Json& json, const std::string& where) {
  if (!json.is_object() || json.size() != 1 || !json.begin()->is_object())
    fail(ExitCode::run_failed, "{}: attention: a pattern is {{name: options}}, not {}", where, dump_json(json));
  return read_alternative(json.begin().key(), *json.begin(), where);
}

int64_t differs_from(const PatternOptions& options, bool causal) { return std::visit(FirstLength{causal}, options); }

std::vector<PatternOptions> pattern_options(const LayerPatterns& chosen) {
  std::vector<PatternOptions> all;
  for (const PluginItem<PatternChoice>& one : chosen) all.push_back(one.make()->options());
  return all;
}

}  // namespace headprune
