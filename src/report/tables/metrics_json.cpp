// metrics.json and the spelling of metric keys.
#include <cmath>

#include "report/numbers/keyed_metrics.h"
#include "report/tables/results_json.h"

namespace headprune {

Json metrics_json(const Record& record, const std::vector<AgreementRow>& agreement) {
  Json json = Json::object();
  for (const auto& [key, metric] : keyed_metrics(record, agreement)) {
    if (std::isfinite(metric.value)) json[key] = metric.value;
  }
  return json;
}

}  // namespace headprune
