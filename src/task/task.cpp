#include "task/task.h"

#include <algorithm>

#include "core/error.h"

namespace headprune {

void Task::prepare(const Dataset& dataset) {
  if (measured_.empty()) return;
  const std::string first = measured_.front().info.name;
  for (const MeasuredMetric& one : measured_)
    if (std::string why = one.metric->missing(dataset); !why.empty()) unavailable_[one.info.name] = std::move(why);
  if (const auto missing = unavailable_.find(first); missing != unavailable_.end())
    fail(ExitCode::usage, "task.metrics: {} cannot come first: {}; put loss first", first, missing->second);
  std::erase_if(measured_, [&](const MeasuredMetric& one) { return unavailable_.contains(one.info.name); });
}

std::vector<MetricInfo> Task::metrics() const {
  std::vector<MetricInfo> all;
  for (const MeasuredMetric& one : measured_) all.push_back(one.info);
  return all;
}

std::vector<std::string> Task::hollow_metrics() const {
  std::vector<std::string> names;
  for (const MeasuredMetric& one : measured_)
    if (one.metric->needs_different_predictions()) names.push_back(one.info.name);
  return names;
}

std::vector<MetricResult> Task::evaluate(const MetricInput& input) const {
  std::vector<MetricResult> results;
  for (const MeasuredMetric& one : measured_) results.push_back(one.metric->measure(input, one.info, *bootstrap_));
  return results;
}

std::map<std::string, std::string> Task::signatures() const {
  std::map<std::string, std::string> all;
  for (const MeasuredMetric& one : measured_)
    if (std::string signature = one.metric->signature(); !signature.empty()) all[one.info.name] = std::move(signature);
  return all;
}

bool Task::measures(const std::string& name) const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [&](const MeasuredMetric& one) { return one.info.name == name; });
}

bool Task::measures_texts() const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [](const MeasuredMetric& one) { return one.metric->of_texts(); });
}

MeasuredMetric Task::chosen() const {
  const MeasuredMetric& first = measured_.front();
  return first.metric->of_texts() ? measured_metric("loss", data_kind()) : first;
}

}  // namespace headprune
