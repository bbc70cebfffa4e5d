// Records built by hand. A model of 2 layers with 2 heads, classification on 100 examples.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/journal.h"

namespace headprune::testing {

MetricFact accuracy_fact();
MetricFact loss_fact();
/// Spec of a point of a sweep "one_shot" over all heads.
PointSpec sweep_spec(int64_t seed, const std::string& method, int64_t draw, int64_t removed);
/// Accuracy with a normal interval of +-0.02 over 100 examples and loss without any uncertainty; accuracy has a paired
/// difference of `delta` +- 0.01 with this p.
struct Values {
  double accuracy = 0, loss = 0, delta = 0, p = 1;
};
PointResult point(const std::string& id, const PointSpec& spec, const Values& values);

/// Seeds 1 and 2; gradient_l1 and random (2 draws) in one sweep at 0, 2 and 4 heads; leave_one_out, all_but_one and
/// layer_removed; scores of gradient_l1 and output_l2; surgery, timing, stages, one warning. Accuracy by seed:
/// base 0.9, 0.8; gradient_l1 0.85, 0.75 at half; random 0.7 and 0.6, 0.6 and 0.5 at half; 0.5 with no head.
Record two_seeds();
/// Adds kind_curve by gradient_l1 in two points of seed 1: 4 and 8 heads of 16 (encoder, decoder) or 15 (cross), with
/// an accuracy of 0.8 and 0.7. Ids are "cross0", "cross1", ...
void add_kind_curves(Record& record);
/// two_seeds() without what belongs to seed 2.
Record one_seed();
/// Adds to seed 1 the unpruned model after `step` training steps (accuracy 0.6, loss 2) and a sweep "early" of it by
/// gradient_l1: 0.6, 0.58 and 0.5 at 0, 2 and 4 heads.
void add_earlier_sweep(Record& record, int64_t step);

/// Gives every point accuracy's values on 100 examples: the first round(100 accuracy) are right, those of each seed and
/// draw shifted a little. The files lie in `folder`.
void store_examples(Record& record, const std::filesystem::path& folder);
/// Every seed has the model of seed 1, and differs in its random orders alone.
Record one_model_two_seeds();

}  // namespace headprune::testing
