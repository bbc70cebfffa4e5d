#include "analysis/shares.h"

#include <algorithm>
#include <map>

#include "score/accumulate.h"
#include "stats/intervals.h"

namespace headprune {
namespace {

/// Over the queries that count, [B, 1 or H, T] to [B, 1 or H].
torch::Tensor over(const torch::Tensor& of_queries, const torch::Tensor& queries) {
  return (of_queries.to(torch::kFloat64) * queries).sum(-1);
}

/// What uniform attention gives to `to`: the share of the keys that a query sees which are of it. [B]
torch::Tensor uniform_share(const BlockView& view, const torch::Tensor& to, const torch::Tensor& queries) {
  const torch::Tensor seen = view.visible.sum(-1).clamp_min(1).to(torch::kFloat64);  // [B, 1, T]
  return over(view.visible.logical_and(to).sum(-1) / seen, queries).squeeze(1);      // [B]
}

torch::Tensor counted(const torch::Tensor& queries) { return queries.sum(-1).squeeze(1).to(torch::kFloat64); }

}  // namespace

Share weight_share(const BlockView& view, const torch::Tensor& to, const torch::Tensor& queries) {
  const torch::Tensor given = (view.weights * to).sum(-1);  // [B, H, T]
  return {over(given, queries), counted(queries), uniform_share(view, to, queries)};
}

Share largest_share(const BlockView& view, const torch::Tensor& to, const torch::Tensor& queries) {
  const torch::Tensor at = view.largest.clamp_min(0).unsqueeze(-1);                // [B, H, T, 1]
  const torch::Tensor hit = to.expand_as(view.weights).gather(3, at).squeeze(-1);  // [B, H, T]
  return {over(hit.logical_and(view.largest >= 0), queries), counted(queries), uniform_share(view, to, queries)};
}

struct Shares::Sums {
  explicit Sums(int64_t heads) : values(heads), baseline(1) {}
  RatioSums values, baseline;
  int64_t examples = 0;  // that have a query which counts
};

namespace {

struct SharesPart final : Analysis::Part {
  explicit SharesPart(const Shares::Look& what) : look(what) {}
  void see(const BlockView& view) override { shares.emplace_back(view.index, look(view)); }

  const Shares::Look& look;
  std::vector<std::pair<size_t, std::vector<Share>>> shares;  // block, columns
};

}  // namespace

Shares::Shares(std::vector<std::string> columns, const AnalysisInput& input, Look look, Conclude conclude,
               std::optional<std::vector<Batch>> own)
    : names_(std::move(columns)), look_(std::move(look)), conclude_(std::move(conclude)), own_(std::move(own)) {
  for (const BlockHeads& block : input.model.blocks()) sums_.emplace_back(names_.size(), Sums(block.count()));
}

Shares::~Shares() = default;

std::unique_ptr<Analysis::Part> Shares::look(const Batch&) const { return std::make_unique<SharesPart>(look_); }

void Shares::add(const Analysis::Part& part) {
  for (const auto& [block, shares] : dynamic_cast<const SharesPart&>(part).shares) {
    if (shares.empty()) continue;
    TORCH_CHECK(shares.size() == names_.size(), "an analysis of ", names_.size(), " columns gave ", shares.size());
    for (size_t c = 0; c < shares.size(); ++c) {
      if (!shares[c].values.defined()) continue;
      Sums& sums = sums_[block][c];
      const torch::Tensor counts = shares[c].counts.cpu().unsqueeze(1);  // [B, 1]
      sums.values.add(shares[c].values.cpu(), counts);
      sums.baseline.add(shares[c].baseline.cpu().unsqueeze(1), counts);
      sums.examples += (counts > 0).sum().item<int64_t>();
    }
  }
}

AnalysisResult Shares::finish() {
  AnalysisResult result;
  for (size_t c = 0; c < names_.size(); ++c) {
    HeadColumn column{.name = names_[c]};
    for (const std::vector<Sums>& block : sums_) {
      const Sums& sums = block[c];
      const auto counted = static_cast<int64_t>(sums.values.n.defined() ? sums.values.n.item<double>() : 0.0);
      const bool known = counted > 0;
      column.values.push_back(known ? sums.values.ratio() : torch::Tensor());  // [H]
      column.stderr_.push_back(sums.examples > 1 ? sums.values.standard_error() : torch::Tensor());
      column.baseline.push_back(known ? std::optional(sums.baseline.ratio().item<double>()) : std::nullopt);
      column.n.push_back(counted);
      column.examples.push_back(sums.examples);
    }
    result.columns.push_back(std::move(column));
  }
  conclude_(result);
  return result;
}

HeadColumn largest_of(const std::string& name, const std::vector<const HeadColumn*>& columns, Largest what) {
  HeadColumn largest = *columns.front();
  largest.name = name;
  for (size_t b = 0; b < largest.values.size(); ++b) {
    largest.values[b].reset();
    largest.stderr_[b].reset();
    largest.baseline[b].reset();
    for (const HeadColumn* column : columns) {
      if (!column->values[b].defined()) continue;
      const torch::Tensor one =
          what == Largest::value ? column->values[b] : column->values[b] - column->baseline[b].value_or(0);  // [H]
      torch::Tensor& values = largest.values[b];
      values = values.defined() ? torch::maximum(values, one) : one;  // [H]
      largest.n[b] = std::max(largest.n[b], column->n[b]);
      largest.examples[b] = std::max(largest.examples[b], column->examples[b]);
    }
  }
  return largest;
}

namespace {

void add_strengths(const std::vector<RoleRule>& rules, AnalysisResult& result) {
  std::map<std::string, std::vector<std::string>> columns;  // by role
  for (const RoleRule& rule : rules) columns[rule.role].push_back(rule.column);
  for (const auto& [role, names] : columns) {
    result.strengths.push_back({role, names.size() == 1 ? names.front() : role});
    if (names.size() == 1) continue;
    std::vector<const HeadColumn*> of_role;
    for (const HeadColumn& column : result.columns)
      if (std::find(names.begin(), names.end(), column.name) != names.end()) of_role.push_back(&column);
    result.columns.push_back(largest_of(role, of_role, Largest::value));
  }
}

}  // namespace

void find_role(const std::vector<RoleRule>& rules, AnalysisResult& result) {
  const auto column_of = [&](const RoleRule& rule) -> const HeadColumn& {
    return *std::find_if(result.columns.begin(), result.columns.end(),
                         [&](const HeadColumn& column) { return column.name == rule.column; });
  };
  const size_t blocks = result.columns.empty() ? 0 : result.columns.front().values.size();
  for (size_t b = 0; b < blocks; ++b) {
    int64_t heads = 0;
    for (const HeadColumn& column : result.columns)
      if (column.values[b].defined()) heads = column.values[b].size(0);
    for (int64_t h = 0; h < heads; ++h) {
      const RoleRule* best = nullptr;
      double largest = 0;
      for (const RoleRule& rule : rules) {
        const HeadColumn& column = column_of(rule);
        if (!column.values[b].defined()) continue;
        const double value = column.values[b][h].item<double>();
        const double error = column.stderr_[b].defined() ? column.stderr_[b][h].item<double>() : 0;
        if (value < rule.threshold || value - kNormal95 * error <= column.baseline[b].value_or(-1) ||
            (best && value <= largest))
          continue;
        best = &rule, largest = value;
      }
      if (best)
        result.roles.push_back(
            {.block = b, .position = h, .role = best->role, .detail = best->detail, .column = best->column});
    }
  }
  add_strengths(rules, result);
}

}  // namespace headprune
