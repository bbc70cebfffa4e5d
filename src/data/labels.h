// Labels of the data against the outputs of a loaded classifier: which of the one is which of the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headprune {

/// What a model folder calls the outputs of its classifier.
struct ModelLabels {
  std::vector<std::string> names = {};  // one an output, in their order; empty: no classifier is loaded
  std::string where = {};               // the file that says so

  /// Of a classifier; a model with one output is regression's.
  bool known() const { return names.size() > 1; }
};

/// Trimmed and case-folded: what two spellings of one label have in common.
std::string folded_label(std::string_view label);
/// The number that a label is, as a number: 2 of "2", "2.0", "LABEL_2" and "label_2"; else nothing.
std::optional<double> label_number(std::string_view label);
/// Whether it is what transformers calls output `index` that nobody named, "LABEL_0".
bool is_placeholder(std::string_view name, size_t index);

/// How a label of the data came to its output.
enum class PairedBy {
  name,    // the same name
  folded,  // the same name, trimmed and case-folded
  number,  // the same number
  output,  // the number of the output, where the model's names are words
  listed   // data.labels says so
};

/// What settles which label is which output.
struct LabelQuestion {
  std::vector<std::string> trained;      // labels of the train part, sorted
  std::vector<std::string> found;        // of all parts, sorted
  std::vector<std::string> listed = {};  // data.labels
  bool trains = false;                   // a classifier of another size can be started anew
  ModelLabels model = {};
};

struct LabelAnswer {
  std::vector<std::string> names;          // one an output: Dataset::labels
  std::map<std::string, int64_t> outputs;  // of each spelling that `found` has; one that `names` lacks is missing
  std::vector<std::string> notes;          // what stands for what and by which rule, where a classifier is loaded
  std::string warning;                     // a classifier is started anew, or numbers are taken for those of outputs
};

/// Without a loaded classifier: the outputs are data.labels, else the labels of the train part, sorted. With one, each
/// label of the data is paired with the output of the same name; else of the same name trimmed and case-folded; else of
/// the same number (label_number). Where no name of the model is a number, labels that are the numbers 0 ... N - 1 are
/// the numbers of its outputs. A rule that fits two outputs fits none. Every label and every output must be paired;
/// data.labels, in the order of the outputs, settles what is not, and must not contradict names that pair. Where the
/// experiment trains and the data have another number of labels, they are as without a model: a classifier is started.
/// Throws Error(run_failed) with both lists and what to set.
LabelAnswer settle_labels(const LabelQuestion& question);

/// Throws Error(run_failed) where a label is, by its name, another output of the model than the one it stands for.
void require_label_order(const ModelLabels& model, const std::vector<std::string>& labels);

}  // namespace headprune
