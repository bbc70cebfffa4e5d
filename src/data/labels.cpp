#include "data/labels.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>

#include "core/error.h"
#include "core/text.h"
#include "data/unicode.h"

namespace headprune {

namespace {

constexpr std::string_view kPlaceholder = "label_";

struct Pair {
  int64_t output = 0;
  PairedBy by = PairedBy::name;
};

/// The one output of which `fits` is true; nothing where there is none or more than one.
template <class Fits>
std::optional<int64_t> only(const std::vector<std::string>& names, const Fits& fits) {
  std::optional<int64_t> found;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!fits(names[i])) continue;
    if (found) return std::nullopt;
    found = static_cast<int64_t>(i);
  }
  return found;
}

std::optional<Pair> pair_by_name(const std::string& label, const std::vector<std::string>& names) {
  if (const auto output = only(names, [&](const std::string& name) { return name == label; }))
    return Pair{*output, PairedBy::name};
  const std::string folded = folded_label(label);
  if (const auto output = only(names, [&](const std::string& name) { return folded_label(name) == folded; }))
    return Pair{*output, PairedBy::folded};
  return std::nullopt;
}

std::optional<Pair> pair_by_number(const std::string& label, const std::vector<std::string>& names) {
  const std::optional<double> number = label_number(label);
  if (!number) return std::nullopt;
  const auto output = only(names, [&](const std::string& name) { return label_number(name) == number; });
  return output ? std::optional(Pair{*output, PairedBy::number}) : std::nullopt;
}

bool has_number(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return label_number(name).has_value(); });
}

/// Labels that are the numbers of the outputs, all of them.
std::map<std::string, Pair> pairs_by_output(const std::vector<std::string>& labels, size_t outputs) {
  std::map<std::string, Pair> pairs;
  std::set<int64_t> numbers;
  for (const std::string& label : labels) {
    const std::optional<double> number = label_number(label);
    if (!number || *number < 0 || *number >= static_cast<double>(outputs) || *number != std::floor(*number)) return {};
    pairs[label] = {static_cast<int64_t>(*number), PairedBy::output};
    numbers.insert(static_cast<int64_t>(*number));
  }
  return numbers.size() == outputs ? pairs : std::map<std::string, Pair>();
}

std::map<std::string, Pair> pair_labels(const std::vector<std::string>& labels, const std::vector<std::string>& names) {
  std::map<std::string, Pair> pairs;
  for (const std::string& label : labels) {
    std::optional<Pair> pair = pair_by_name(label, names);
    if (!pair) pair = pair_by_number(label, names);
    if (pair) pairs[label] = *pair;
  }
  if (pairs.empty() && !has_number(names)) return pairs_by_output(labels, names.size());
  return pairs;
}

const char* rule_text(PairedBy by) {
  switch (by) {
    case PairedBy::name:
      return "the same name";
    case PairedBy::folded:
      return "the same name but for case and spaces at its ends";
    case PairedBy::number:
      return "the same number";
    case PairedBy::output:
      return "the number of the output";
    default:
      return "data.labels";
  }
}

/// Whether every label and every output has a partner.
bool complete(const std::map<std::string, Pair>& pairs, const LabelQuestion& question) {
  std::set<int64_t> outputs;
  for (const auto& [label, pair] : pairs) outputs.insert(pair.output);
  return pairs.size() == question.found.size() && outputs.size() == question.model.names.size();
}

[[noreturn]] void refuse(const std::map<std::string, Pair>& pairs, const LabelQuestion& question) {
  const std::vector<std::string>& names = question.model.names;
  std::vector<std::string> labels_left, outputs_left;
  std::set<int64_t> outputs;
  for (const std::string& label : question.found)
    if (const auto at = pairs.find(label); at == pairs.end())
      labels_left.push_back(label);
    else
      outputs.insert(at->second.output);
  for (size_t i = 0; i < names.size(); ++i)
    if (!outputs.contains(static_cast<int64_t>(i))) outputs_left.push_back(names[i]);
  const auto list = [](const std::vector<std::string>& all) { return all.empty() ? "none" : join_some(all, ", ", 20); };
  fail(ExitCode::run_failed,
       "{}: the model has {} labels and the data {}, [{}] and [{}]; of the model's {} and of the data's {} are left "
       "without "
       "a partner (by name, by name without case and spaces at its ends, by number): set data.labels to the data's "
       "labels in the order of the model's outputs, [label of {}, ...]{}",
       question.model.where, names.size(), question.found.size(), list(names), list(question.found), list(outputs_left),
       list(labels_left), names.front(),
       labels_left.empty() ? ", those that the data lack included"
                           : ", or use data with the labels that it was trained "
                             "with");
}

/// Of outputs that bear the labels' names in the order given.
LabelAnswer in_order(std::vector<std::string> names, const LabelQuestion& question) {
  LabelAnswer answer;
  for (size_t i = 0; i < names.size(); ++i) answer.outputs.emplace(names[i], static_cast<int64_t>(i));
  // With data.labels another spelling of a label is another label: the list is exact.
  answer.names = std::move(names);
  const std::vector<std::string>& known = question.model.names;
  if (question.listed.empty() || known.size() != answer.names.size()) return answer;
  for (size_t i = 0; i < known.size(); ++i)
    answer.notes.push_back(fmt::format("label {} of the data is output {} of the model, {} ({})", answer.names[i], i,
                                       known[i], rule_text(PairedBy::listed)));
  return answer;
}

LabelAnswer paired(const std::map<std::string, Pair>& pairs, const LabelQuestion& question) {
  LabelAnswer answer;
  answer.names.resize(question.model.names.size());
  std::vector<PairedBy> best(answer.names.size(), PairedBy::listed);
  for (const auto& [label, pair] : pairs) {
    const auto output = static_cast<size_t>(pair.output);
    answer.outputs[label] = pair.output;
    // Of several spellings the one that is nearest to the model's is the name.
    if (!answer.names[output].empty() && best[output] <= pair.by) continue;
    answer.names[output] = label;
    best[output] = pair.by;
  }
  if (pairs.begin()->second.by == PairedBy::output)
    answer.warning = fmt::format(
        "the labels of the data are numbers and the outputs of {} have names: each is taken for the number of an "
        "output "
        "(0 is {}); where the data count in another order, as files of MNLI do, set data.labels in the order of the "
        "outputs",
        question.model.where, question.model.names.front());
  for (size_t output = 0; output < answer.names.size(); ++output)
    for (const auto& [label, pair] : pairs)
      if (static_cast<size_t>(pair.output) == output)
        answer.notes.push_back(fmt::format("label {} of the data is output {} of the model, {} ({})", label, output,
                                           question.model.names[output], rule_text(pair.by)));
  return answer;
}

}  // namespace

std::string folded_label(std::string_view label) {
  std::string_view rest = trim(label);
  // Spaces that are not ASCII: a no-break space out of a spreadsheet.
  for (size_t at = 0; at < rest.size();) {
    size_t next = at;
    if (!is_white_space(take_code_point(rest, next))) {
      rest.remove_prefix(at);
      break;
    }
    at = next;
  }
  size_t end = 0;
  for (size_t at = 0; at < rest.size();)
    if (!is_white_space(take_code_point(rest, at))) end = at;
  rest = rest.substr(0, end);
  utf8proc_uint8_t* mapped = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()), static_cast<utf8proc_ssize_t>(rest.size()),
                   &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
  if (length < 0) throw std::logic_error(fmt::format("folded_label: {}", utf8proc_errmsg(length)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(length)};
}

std::optional<double> label_number(std::string_view label) {
  const std::string folded = folded_label(label);
  std::string_view digits = folded;
  if (digits.starts_with(kPlaceholder)) digits.remove_prefix(kPlaceholder.size());
  return parse_number(digits);
}

bool is_placeholder(std::string_view name, size_t index) { return name == fmt::format("LABEL_{}", index); }

void require_label_order(const ModelLabels& model, const std::vector<std::string>& labels) {
  std::vector<std::string> ordered(model.names.size());
  bool moved = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::optional<Pair> pair = pair_by_name(labels[i], model.names);
    if (!pair) continue;
    moved = moved || pair->output != static_cast<int64_t>(i);
    ordered[static_cast<size_t>(pair->output)] = labels[i];
  }
  if (!moved) return;
  const bool all = std::none_of(ordered.begin(), ordered.end(), [](const std::string& name) { return name.empty(); });
  fail(ExitCode::run_failed,
       "{}: the model's labels are {}, in another order than the data's {}; {}, or correct the labels in that file",
       model.where, join_some(model.names, ", ", 20), join_some(labels, ", ", 20),
       all ? fmt::format("set data.labels: [{}]", join(ordered, ", "))
           : std::string("set data.labels in the order of the model's outputs"));
}

LabelAnswer settle_labels(const LabelQuestion& question) {
  const std::vector<std::string>& names = question.model.names;
  const auto without_model = [&] {
    return in_order(question.listed.empty() ? question.trained : question.listed, question);
  };
  if (!question.model.known()) return without_model();
  const std::vector<std::string>& asked = question.listed.empty() ? question.found : question.listed;
  if (!question.listed.empty() && asked.size() == names.size()) {
    require_label_order(question.model, asked);
    return without_model();
  }
  const std::map<std::string, Pair> pairs = pair_labels(question.found, names);
  if (question.listed.empty() && complete(pairs, question)) return paired(pairs, question);
  if (question.trains && asked.size() != names.size()) {
    LabelAnswer answer = without_model();
    answer.warning = fmt::format(
        "the classifier of {} has {} labels ({}) and the data {} ({}): training starts a new one for those of the data",
        question.model.where, names.size(), join_some(names, ", ", 5), answer.names.size(),
        join_some(answer.names, ", ", 5));
    return answer;
  }
  if (!question.listed.empty())
    fail(ExitCode::run_failed,
         "{}: the model has {} labels, {}, and data.labels {}: {}; list one label of the data for each, in that order",
         question.model.where, names.size(), join_some(names, ", ", 20), asked.size(), join_some(asked, ", ", 20));
  refuse(pairs, question);
}

}  // namespace headprune
