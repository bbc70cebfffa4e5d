#include "data/describe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"
#include "data/splits.h"
#include "data/translation_tokenizer.h"

namespace headprune {

namespace {

/// Shares from which a warning is due, of splits that have enough examples.
constexpr int64_t kFewExamples = 10;
constexpr double kShared = 0.05, kContradicting = 0.05, kUnknown = 0.2;

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void append(std::string& bytes, const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    bytes.append(reinterpret_cast<const char*>(&id), sizeof(id));
  }
  bytes += '|';
}

/// What the model reads of an example.
std::string text_of(const Example& example) {
  std::string bytes;
  append(bytes, example.tokens);
  append(bytes, example.token_types);
  append(bytes, example.decoder_tokens);
  for (const Choice& choice : example.choices) append(bytes, choice.tokens);
  return bytes;
}

/// What it is to say.
std::string answer_of(const Example& example) {
  std::string bytes = fmt::format("{} {} ", example.label, example.number ? number_text(*example.number) : "");
  append(bytes, example.targets);
  if (!example.choices.empty()) bytes += std::to_string(example.right_choice);
  return bytes;
}

/// For counts over many examples: their bytes would take as much memory again as the data.
size_t key_of(const std::string& bytes) { return std::hash<std::string>()(bytes); }

bool all_equal(const std::vector<Example>& examples, std::string (*of)(const Example&)) {
  const std::string first = of(examples.front());
  return std::all_of(examples.begin(), examples.end(), [&](const Example& one) { return of(one) == first; });
}

/// The label, number or text that every example is to be given, as a person would write it.
std::string value_text(const Dataset& dataset, const Example& example) {
  switch (dataset.kind) {
    case DataKind::labelled:
      return fmt::format("label '{}'", dataset.labels.at(static_cast<size_t>(example.label)));
    case DataKind::numbered:
      return fmt::format("number {}", example.number.value_or(0));
    case DataKind::translation:
      return fmt::format("translation '{}'", example.reference);
    default:
      return "text";
  }
}

std::string split_text(const Dataset& dataset, const UsedSplit& used) {
  const Split& split = *used.split;
  const auto count = static_cast<int64_t>(split.examples.size());
  return fmt::format("{}: {} of the {} split{} ({}the {} part)", dataset.name,
                     count == 1 ? "the only example" : fmt::format("every one of the {} examples", count),
                     join(used.roles, " and "), used.roles.size() > 1 ? "s" : "",
                     count < split.original ? "a sample of " : "", split.name);
}

/// What can be done about it.
std::string way_out(const UsedSplit& used) {
  const bool sample = static_cast<int64_t>(used.split->examples.size()) < used.split->original;
  const std::string& role = used.roles.front();
  return sample            ? fmt::format("raise data.limit.{}", role)
         : role == "train" ? std::string("use other data")
                           : fmt::format("choose another part in data.splits.{}", role);
}

/// Whether every token that a language model is to predict is the same. How many are unknown is said elsewhere.
bool one_target(const std::vector<Example>& examples, int64_t unknown) {
  const int64_t first = examples.front().targets.front();
  return first != unknown && std::all_of(examples.begin(), examples.end(), [&](const Example& example) {
           return std::all_of(example.targets.begin(), example.targets.end(),
                              [&](int64_t target) { return target == first || target == kNoTarget; });
         });
}

/// Its first tokens.
std::string beginning_of(const Dataset& dataset, const Example& example) {
  constexpr size_t kShown = 8;
  std::vector<std::string> tokens;
  for (size_t i = 0; i < std::min(kShown, example.tokens.size()); ++i)
    tokens.push_back(dataset.tokenizer->token(example.tokens[i]));
  return join(tokens, " ") + (example.tokens.size() > kShown ? " ..." : "");
}

TextLengthSummary lengths(const std::vector<Example>& examples, bool target, int64_t unknown) {
  std::vector<int64_t> all;
  TextLengthSummary summary;
  for (const Example& example : examples) {
    const std::vector<int64_t>& ids = target ? example.targets : example.tokens;
    all.push_back(static_cast<int64_t>(ids.size()));
    // The end token of a target is its special one.
    summary.tokens += all.back() - (target ? 1 : static_cast<int64_t>(example.special.size()));
    summary.unknown += std::count(ids.begin(), ids.end(), unknown);
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  summary.median = *middle;
  summary.longest = *std::max_element(all.begin(), all.end());
  return summary;
}

SplitSummary summarise(const Dataset& dataset, const UsedSplit& used) {
  const std::vector<Example>& examples = used.split->examples;
  SplitSummary summary;
  summary.roles = used.roles;
  summary.part = used.split->name;
  summary.examples = static_cast<int64_t>(examples.size());
  summary.original = used.split->original;
  for (const std::string& label : dataset.labels) summary.labels.emplace_back(label, 0);
  double sum = 0, lowest = INFINITY, highest = -INFINITY;
  std::unordered_map<size_t, size_t> answers;  // by text: the first one's
  for (const Example& example : examples) {
    if (example.label >= 0) ++summary.labels.at(static_cast<size_t>(example.label)).second;
    const double number = example.number.value_or(0);
    sum += number;
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
    const auto [before, fresh] = answers.emplace(key_of(text_of(example)), key_of(answer_of(example)));
    if (fresh) continue;
    ++summary.repeated;
    // The window of a text repeats without what follows it.
    summary.contradicting += dataset.kind != DataKind::language && before->second != key_of(answer_of(example));
  }
  if (dataset.kind == DataKind::numbered)
    summary.numbers = {lowest, sum / static_cast<double>(examples.size()), highest};
  summary.texts = lengths(examples, /*target=*/false, dataset.tokenizer->unknown());
  if (const auto* both = dynamic_cast<const TranslationTokenizer*>(dataset.tokenizer.get());
      both && dataset.kind == DataKind::translation)
    summary.targets = lengths(examples, /*target=*/true, both->target_unknown());
  return summary;
}

/// Examples whose text some split of another part has, by that part.
std::vector<std::pair<std::string, int64_t>> shared_texts(const UsedSplit& used, const std::vector<UsedSplit>& all) {
  std::vector<std::pair<std::string, int64_t>> shared;
  for (const Part part : kParts) {
    if (used.split->name == enum_name(part)) continue;
    std::unordered_set<size_t> texts;
    for (const UsedSplit& other : all)
      if (other.split->name == enum_name(part))
        for (const Example& example : other.split->examples) texts.insert(key_of(text_of(example)));
    if (texts.empty()) continue;
    const auto count = std::count_if(used.split->examples.begin(), used.split->examples.end(),
                                     [&](const Example& example) { return texts.contains(key_of(text_of(example))); });
    shared.emplace_back(enum_name(part), count);
  }
  return shared;
}

void warn_of(Dataset& dataset, const SplitSummary& summary) {
  if (summary.examples < kFewExamples) return;
  const auto say = [&](const std::string& text) {
    warn(dataset, fmt::format("{} split: {}", join(summary.roles, " and "), text));
  };
  for (const auto& [part, count] : summary.shared)
    if (summary.part != "train" && share(count, summary.examples) >= kShared)
      say(fmt::format(
          "{} of its {} texts ({:.0f} %) stand in the {} part too, so that what is measured on it is partly "
          "memory",
          count, summary.examples, 100 * share(count, summary.examples), part));
  if (share(summary.contradicting, summary.examples) >= kContradicting)
    say(fmt::format("{} of its {} texts stood before with another label or number: no model can get both right",
                    summary.contradicting, summary.examples));
  for (const auto& [texts, side] : {std::pair(std::optional(summary.texts), ""), std::pair(summary.targets, "target ")})
    if (texts && share(texts->unknown, texts->tokens) >= kUnknown)
      say(fmt::format("{:.0f} % of its {}tokens are unknown: is it the right tokenizer (or data.vocabulary_size)?",
                      100 * share(texts->unknown, texts->tokens), side));
}

}  // namespace

void require_different_examples(const Dataset& dataset) {
  for (const UsedSplit& used : dataset.used_splits()) {
    const std::vector<Example>& examples = used.split->examples;
    const Example& first = examples.front();
    const bool classified = dataset.kind == DataKind::labelled || dataset.kind == DataKind::numbered;
    const bool single = classified && used.split == dataset.report;  // where one example is no measurement either
    if (dataset.kind == DataKind::language && one_target(examples, dataset.tokenizer->unknown()))
      fail(ExitCode::run_failed,
           "{}: every token of the {} split (the {} part) is '{}': nothing can be learnt or "
           "measured there; is it the right file?",
           dataset.name, join(used.roles, " and "), used.split->name, dataset.tokenizer->token(first.targets.front()));
    if (examples.size() < 2 && !single) continue;
    if (dataset.kind != DataKind::language && all_equal(examples, answer_of))
      fail(ExitCode::run_failed,
           "{} has the {}: nothing can be learnt or measured there; if it stands for one that is hidden or missing, {}",
           split_text(dataset, used), value_text(dataset, first), way_out(used));
    // Texts of unknown words may well differ; how many are unknown is said elsewhere.
    const bool spelled = std::count(first.tokens.begin(), first.tokens.end(), dataset.tokenizer->unknown()) == 0;
    if (spelled && examples.size() > 1 && all_equal(examples, text_of))
      fail(ExitCode::run_failed, "{} has the same text, '{}': is it the right column or file? Else {}",
           split_text(dataset, used), beginning_of(dataset, first), way_out(used));
  }
}

void describe_splits(Dataset& dataset) {
  const std::vector<UsedSplit> used = dataset.used_splits();
  for (const UsedSplit& one : used) {
    SplitSummary summary = summarise(dataset, one);
    summary.shared = shared_texts(one, used);
    warn_of(dataset, summary);
    dataset.summaries.push_back(std::move(summary));
  }
}

}  // namespace headprune
