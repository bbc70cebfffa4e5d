#include "report/numbers/agreement_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/numbers/groups.h"
#include "report/numbers/repetitions.h"
#include "stats/agreement.h"

namespace headprune {
namespace {

struct Side {
  ScoreKey key;
  const RecordedScore* score = nullptr;
};

/// The scores of heads that both sides have; every block, or one.
struct Paired {
  std::vector<double> a, b;
};

void append_block(const ScoreBlock& a, const ScoreBlock& b, Paired& out) {
  if (&a == &b) {  // with itself: half against half
    out.a.insert(out.a.end(), a.halves[0].begin(), a.halves[0].end());
    out.b.insert(out.b.end(), a.halves[1].begin(), a.halves[1].end());
    return;
  }
  for (size_t i = 0; i < a.heads.size(); ++i) {
    for (size_t j = 0; j < b.heads.size(); ++j) {
      if (a.heads[i] != b.heads[j]) continue;
      out.a.push_back(a.scores[i]);
      out.b.push_back(b.scores[j]);
    }
  }
}

int64_t half(size_t n) { return static_cast<int64_t>((n + 1) / 2); }

class Comparison {
 public:
  /// Without `chance` there is no p.
  Comparison(const Side& a, const Side& b, ChanceOrders* chance, std::vector<AgreementRow>& rows)
      : name_(a.score == b.score         ? "halves"
              : a.key.seed == b.key.seed ? "methods"
                                         : "seeds"),
        a_(a),
        b_(b),
        chance_(chance),
        rows_(rows) {}

  void run(const std::set<int64_t>& removed_counts) {
    Paired all;
    for (const auto& [id, block] : a_.score->blocks) {
      const auto other = b_.score->blocks.find(id);
      if (other == b_.score->blocks.end()) continue;
      append_block(block, other->second, all);
    }
    std::set<int64_t> counts = {half(all.a.size())};
    for (const int64_t k : removed_counts) {
      if (k > 0 && k < static_cast<int64_t>(all.a.size())) counts.insert(k);
    }
    add(all, "all", std::nullopt, counts);
    if (a_.score->blocks.size() < 2) return;
    for (const auto& [id, block] : a_.score->blocks) {
      const auto other = b_.score->blocks.find(id);
      if (other == b_.score->blocks.end()) continue;
      Paired one;
      append_block(block, other->second, one);
      add(one, to_string(id.kind), id.layer, {half(one.a.size())});
    }
  }

 private:
  void add(const Paired& values, const std::string& kind, std::optional<int64_t> layer,
           const std::set<int64_t>& counts) {
    if (values.a.empty()) return;
    AgreementRow row;
    row.comparison = name_;
    row.method_a = a_.key.method;
    row.method_b = b_.key.method;
    row.seed_a = a_.key.seed;
    row.seed_b = b_.key.seed;
    row.draw_a = a_.key.draw;
    row.draw_b = b_.key.draw;
    row.kind = kind;
    row.layer = layer;
    measure(row, values, {AgreementStatistic::spearman});
    measure(row, values, {AgreementStatistic::kendall_tau_b});
    for (const int64_t k : counts) measure(row, values, {AgreementStatistic::topk_jaccard, k});
  }

  void measure(AgreementRow row, const Paired& values, const AgreementRequest& request) {
    row.statistic = to_string(request.statistic);
    if (request.statistic == AgreementStatistic::topk_jaccard) row.k = request.k;
    const Agreement result = agreement(request, values.a, values.b, chance_);
    row.value = result.value;
    row.p = result.p;
    row.n = result.n;
    rows_.push_back(row);
  }

  std::string name_;
  const Side& a_;
  const Side& b_;
  ChanceOrders* chance_;
  std::vector<AgreementRow>& rows_;
};

std::set<int64_t> sweep_counts(const Record& record) {
  std::set<int64_t> counts;
  for (const auto& [id, point] : record.points) {
    if (!point.spec.sweep.empty() && point.spec.kind == "all") counts.insert(point.spec.heads_removed);
  }
  return counts;
}

bool has_halves(const RecordedScore& score) {
  return std::all_of(score.blocks.begin(), score.blocks.end(),
                     [](const auto& block) { return block.second.heads.empty() || !block.second.halves[0].empty(); });
}

}  // namespace

std::vector<AgreementRow> agreement_rows(const Record& record, bool with_p) {
  std::vector<Side> sides;
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty() || !score.done || is_random(record, key.method)) continue;
    if (!seeds_differ(record) && key.seed != record.scores.begin()->first.seed) continue;  // the same scores again
    sides.push_back({key, &score});
  }
  const std::set<int64_t> counts = sweep_counts(record);
  const bool compare_seeds = heads_shared_by_seeds(record) && seeds_differ(record);
  std::vector<AgreementRow> rows;
  if (sides.empty()) return rows;
  ChanceOrders chance(static_cast<uint64_t>(sides.front().key.seed), "agreement");
  for (size_t i = 0; i < sides.size(); ++i) {
    if (has_halves(*sides[i].score)) Comparison(sides[i], sides[i], with_p ? &chance : nullptr, rows).run(counts);
    for (size_t j = i + 1; j < sides.size(); ++j) {
      const ScoreKey &a = sides[i].key, &b = sides[j].key;
      const bool methods = a.seed == b.seed && a.method != b.method;
      const bool seeds = compare_seeds && a.seed != b.seed && a.method == b.method && a.draw == b.draw;
      if (methods || seeds) Comparison(sides[i], sides[j], with_p ? &chance : nullptr, rows).run(counts);
    }
  }
  return rows;
}

std::vector<AgreementGroup> agreement_groups(const std::vector<AgreementRow>& rows) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, int64_t, std::string, int64_t>;
  std::map<Key, AgreementGroup> groups;
  for (const AgreementRow& row : rows) {
    const Key key{row.comparison,         row.method_a,  row.method_b,      row.kind,
                  row.layer.value_or(-1), row.statistic, row.k.value_or(-1)};
    AgreementGroup& group = groups.try_emplace(key, AgreementGroup{row, {}, 0, 0}).first->second;
    ++group.rows;
    if (row.value) group.values.push_back(*row.value);
  }
  std::vector<AgreementGroup> list;
  for (auto& [key, group] : groups) {
    for (const double value : group.values) group.mean += value / static_cast<double>(group.values.size());
    list.push_back(std::move(group));
  }
  return list;
}

}  // namespace headprune
