// Whether heads with more of a role are those that scores call important, and those that cost most when they go alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/record.h"

namespace headprune {

/// Spearman's rank correlation, over the heads of one model, of how much of a role they have with what `against` says.
struct RoleAgreement {
  int64_t seed = 0;
  std::string analysis, role, column;  // what measures the role
  std::string against;                 // label of a score, or "leave_one_out": how much worse the headline metric gets
  std::optional<double> spearman;      // absent where one side is constant
  std::optional<double> ci_low, ci_high;  // 95 %, by Fisher's z with the variance of Bonett and Wright (2000)
  std::optional<double> p, q;             // by permutation; Benjamini-Hochberg over all of one seed
  int64_t n = 0;                          // heads
};
/// By seed, analysis, role, against. The interval takes the heads for a sample of heads like these.
std::vector<RoleAgreement> role_agreement(const Record& record);
std::string role_agreement_csv(const std::vector<RoleAgreement>& rows);

}  // namespace headprune
