// What metrics of labels are functions of: how often each label is predicted, is right, and is both.
#pragma once

#include "metric/metric.h"

namespace headprune {

/// Number of labels: what the outcomes say, or else one more than the largest label that occurs.
int64_t label_count(const Outcomes& outcomes);
/// Three one-hot column groups over labels: right predictions, predictions, targets.
Columns confusion_columns(const Outcomes& outcomes);

}  // namespace headprune
