// What one example came to under one mask: all that a metric looks at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headprune {

/// Kept in the split's order, so that two masks compare example by example.
struct Outcome {
  double loss = 0;                    // l(x): mean over the positions of x that receive loss
  double weight = 1;                  // number of those positions
  int64_t target = -1;                // classification
  int64_t predicted = -1;             // classification: -1 where a logit is not finite
  int64_t labels = 0;                 // classification: how many there are; decides which F1 and Matthews is meant
  int64_t positive = 1;               // classification: the label that F1 is of, where there are two
  int64_t characters = 0, bytes = 0;  // language modelling: of the predicted text; 0 where not known
  std::optional<double> number = {};  // regression: what was to be predicted
  double predicted_number = 0;        // regression
  std::string text = {};              // translation: what the model wrote, where it was asked to
  std::string reference = {};         // translation: what was to be written
  std::vector<double> choices = {};   // multiple choice: log likelihood of each
  int64_t predicted_by_length = -1;   // multiple choice: the likeliest by character, where `predicted` is the likeliest
};
using Outcomes = std::vector<Outcome>;

}  // namespace headprune
