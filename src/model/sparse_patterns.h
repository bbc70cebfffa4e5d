// `strided` and `fixed`: the two factorised patterns of the Sparse Transformer (Child et al. 2019, arXiv 1904.10509,
// section 4), whose layers have heads of two kinds. In a decoder no query sees what comes later; in an encoder the
// same rules hold on both sides.
#pragma once

#include "model/pattern_options.h"

namespace headprune {

/// A local head sees max(0, i - l) <= j <= i (in an encoder |i - j| <= l), a strided head (i - j) mod l = 0.
std::shared_ptr<const Pattern> strided_pattern(const StridedOptions& options, const PatternPlace& place);
/// A block head sees j div l = i div l, a summary head j mod l >= l - c. Places count from the first token of a text. A
/// query that sees no key, as a summary head's in the first block, gets nothing.
std::shared_ptr<const Pattern> fixed_pattern(const FixedOptions& options, const PatternPlace& place);

}  // namespace headprune
