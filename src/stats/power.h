// What a family of tests could have found at all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stats/estimate.h"

namespace headprune {

/// The smallest change that one of these differences needed to stand out by itself, the others showing nothing: its p
/// must then reach alpha / m, m the number of tests (Benjamini and Hochberg 1995 at rank 1). McNemar's exact test: the
/// fewest examples, all changing one way, whose p does, over n. Other tests: the median half width of the 95 %
/// intervals, stretched from 0.05 to alpha / m on the normal distribution. Nothing without tests or intervals, or where
/// n examples are too few for any.
std::optional<double> smallest_change(const std::vector<Difference>& tests, int64_t n, double alpha);

}  // namespace headprune
