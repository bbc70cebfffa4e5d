// metrics.json and the spelling of metric keys.
#include <cmath>

#include "report/keyed_metrics.h"
#include "report/results_json.h"

namespace headprune {

std::string metric_key(const std::vector<std::string>& parts) {
  std::string key;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!key.empty()) key += '/';
    for (const char c : part) {
      const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                         c == '.' || c == '-';
      key += plain ? c : '_';
    }
  }
  return key;
}

std::string fraction_text(int64_t heads_removed, int64_t heads_total) {
  const double fraction =
      heads_total == 0 ? 0.0 : static_cast<double>(heads_removed) / static_cast<double>(heads_total);
  std::string text = fmt::format("{:.6f}", fraction);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Json metrics_json(const Record& record, const std::vector<AgreementRow>& agreement) {
  Json json = Json::object();
  for (const auto& [key, metric] : keyed_metrics(record, agreement)) {
    if (std::isfinite(metric.value)) json[key] = metric.value;
  }
  return json;
}

}  // namespace headprune
