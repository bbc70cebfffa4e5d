#include "report/tables/tables.h"

#include <algorithm>
#include <span>

#include "report/numbers/timing.h"
#include "report/text/csv.h"

namespace headprune {

std::map<HeadId, int64_t> removal_order(const RecordedScore& score) {
  std::map<HeadId, int64_t> order;
  if (!score.done) return order;
  std::vector<std::pair<double, HeadId>> heads;
  for (const auto& [id, block] : score.blocks) {
    for (size_t i = 0; i < block.heads.size(); ++i) heads.push_back({block.scores[i], {id, block.heads[i]}});
  }
  std::sort(heads.begin(), heads.end());
  for (size_t i = 0; i < heads.size(); ++i) order[heads[i].second] = static_cast<int64_t>(i);
  return order;
}

std::string scores_csv(const Record& record) {
  std::vector<CsvRow> rows;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty()) continue;
    const std::map<HeadId, int64_t> order = removal_order(score);
    for (const auto& [id, block] : score.blocks) {
      for (size_t i = 0; i < block.heads.size(); ++i) {
        const auto place = order.find({id, block.heads[i]});
        rows.push_back({key.seed, key.method, key.draw, to_string(id.kind), id.layer, block.heads[i], block.scores[i],
                        block.stderrs.empty() ? Cell() : Cell(block.stderrs[i]),
                        place == order.end() ? Cell() : Cell(place->second), block.n});
      }
    }
  }
  return csv_text({"seed", "method", "draw", "kind", "layer", "head", "score", "stderr", "order", "n"},
                  std::move(rows));
}

std::string agreement_csv(const std::vector<AgreementRow>& measured) {
  std::vector<CsvRow> rows;
  for (const AgreementRow& row : measured) {
    // No standard error: permutation gives a p, not a sampling distribution.
    rows.push_back({row.comparison, row.method_a, row.method_b, row.seed_a, row.seed_b, row.draw_a, row.draw_b,
                    row.kind, row.layer, row.statistic, row.k, row.value, Cell(), row.p, row.n});
  }
  return csv_text({"comparison", "method_a", "method_b", "seed_a", "seed_b", "draw_a", "draw_b", "kind", "layer",
                   "statistic", "k", "value", "stderr", "p", "n"},
                  std::move(rows));
}

std::string timing_csv(const Record& record) {
  std::vector<CsvRow> rows;
  const Json& fingerprint = record.fingerprint;
  const Cell device = fingerprint.contains("device") ? Cell(fingerprint["device"].get<std::string>()) : Cell();
  const Cell threads = fingerprint.contains("threads") ? Cell(fingerprint["threads"].get<int64_t>()) : Cell();
  for (const TimingSummary& timing : timing_summaries(record)) {
    const TimingResult& result = *timing.result;
    const PointResult* point = timing.point;
    const PointSpec spec = point == nullptr ? PointSpec() : point->spec;
    const auto add = [&](const char* metric, const Spread& spread) {
      rows.push_back({point == nullptr ? Cell() : Cell(spec.seed),
                      spec.method,
                      spec.method.empty() ? Cell() : Cell(spec.draw.value_or(0)),
                      spec.sweep,
                      spec.rule,
                      result.form,
                      point == nullptr ? result.point : point->point,
                      point == nullptr ? Cell() : Cell(point->fraction),
                      point == nullptr ? Cell() : Cell(spec.heads_removed),
                      point == nullptr ? Cell() : Cell(point->heads_total),
                      device,
                      threads,
                      result.batch_size,
                      result.sequence_length,
                      metric,
                      spread.mean,
                      spread.stderr_,
                      spread.median,
                      spread.min,
                      spread.max,
                      spread.n,
                      result.warmup});
    };
    add("seconds_per_batch", timing.seconds_per_batch);
    add("examples_per_second", timing.examples_per_second);
  }
  return csv_text({"seed",     "method",        "draw",        "sweep",  "rule",    "form",       "point",
                   "fraction", "heads_removed", "heads_total", "device", "threads", "batch_size", "sequence_length",
                   "metric",   "value",         "stderr",      "median", "min",     "max",        "n",
                   "warmup"},
                  std::move(rows));
}

}  // namespace headprune
