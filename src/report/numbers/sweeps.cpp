#include "report/numbers/sweeps.h"

#include <fmt/format.h>

namespace headprune {

std::string CurveGroup::name() const {
  if (!method.empty()) return method;
  return seed ? fmt::format("order from a file, seed {}", *seed) : "order from a file";
}

std::vector<Sweep> sweeps_of(const Record& record) {
  std::vector<Sweep> sweeps;
  for (CurveGroup& curve : curve_groups(record)) {
    const auto same = [&](const CurveGroup& other) {
      return other.sweep == curve.sweep && other.rule == curve.rule && other.scope == curve.scope &&
             other.kind == curve.kind && other.at_step == curve.at_step;
    };
    if (sweeps.empty() || !same(sweeps.back().any()))
      sweeps.push_back({.curves = {}, .controls = {}, .trained = control_groups(record, curve.sweep)});
    auto& list = is_random(record, curve.method) ? sweeps.back().controls : sweeps.back().curves;
    list.push_back(std::move(curve));
  }
  return sweeps;
}

}  // namespace headprune
