#include "data/splits.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/random.h"
#include "data/describe.h"

namespace headprune {

namespace {

void append(std::string& bytes, int64_t value) {
  auto rest = static_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i, rest >>= 8) bytes.push_back(static_cast<char>(rest & 0xff));
}

/// Of each example: number of tokens, tokens, label, targets, token types, number and decoder tokens where there are
/// any, all as little-endian 64-bit integers, the number by its bits; of a translation also the reference and its size;
/// of choices, each one's tokens and targets, and which is right.
std::string split_sha256(const std::vector<Example>& examples) {
  Sha256 hash;
  std::string bytes;
  for (const Example& example : examples) {
    bytes.clear();
    append(bytes, static_cast<int64_t>(example.tokens.size()));
    for (const int64_t token : example.tokens) append(bytes, token);
    append(bytes, example.label);
    for (const int64_t target : example.targets) append(bytes, target);
    for (const int64_t type : example.token_types) append(bytes, type);
    if (example.number) append(bytes, std::bit_cast<int64_t>(*example.number));
    if (!example.decoder_tokens.empty()) {
      for (const int64_t token : example.decoder_tokens) append(bytes, token);
      append(bytes, static_cast<int64_t>(example.reference.size()));
      bytes += example.reference;
    }
    for (const Choice& choice : example.choices) {
      append(bytes, static_cast<int64_t>(choice.tokens.size()));
      for (const int64_t token : choice.tokens) append(bytes, token);
      for (const int64_t target : choice.targets) append(bytes, target);
    }
    if (!example.choices.empty()) append(bytes, example.right_choice);
    hash.update(bytes);
  }
  return hash.hex();
}

std::shared_ptr<const Split> make_split(Part part, std::vector<Example> examples, int64_t original) {
  auto split = std::make_shared<Split>();
  split->name = enum_name(part);
  split->original = original;
  split->sha256 = split_sha256(examples);
  split->examples = std::move(examples);
  return split;
}

}  // namespace

std::vector<Example>& examples_of(PartExamples& parts, Part part) { return parts[static_cast<size_t>(part)]; }

std::string data_name(const std::filesystem::path& path) {
  const std::filesystem::path whole = path.lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<int64_t> limit_sample(int64_t n, int64_t limit, uint64_t seed, const std::string& role) {
  return seeded_sample(n, limit, seed, "data/limit/" + role);
}

std::vector<int64_t> seeded_sample(int64_t n, int64_t count, uint64_t seed, const std::string& name) {
  std::vector<int64_t> indices(static_cast<size_t>(n));
  std::iota(indices.begin(), indices.end(), 0);
  Random random(seed, name);
  random.shuffle(indices);
  indices.resize(static_cast<size_t>(std::min(n, count)));
  std::sort(indices.begin(), indices.end());
  return indices;
}

void warn(Dataset& dataset, const std::string& text) {
  log_warn("[data] {}", text);
  dataset.warnings.push_back(text);
}

void assign_roles(Dataset& dataset, PartExamples parts, const RoleOptions& options, uint64_t seed) {
  std::array<std::shared_ptr<const Split>, kParts.size()> whole;
  for (const Part part : kParts) {
    std::vector<Example>& examples = examples_of(parts, part);
    const auto count = static_cast<int64_t>(examples.size());
    if (options.uses(part) && count == 0)
      fail(ExitCode::run_failed, "the {} part of {} has no examples; choose another part with data.splits",
           enum_name(part), dataset.name);
    whole[static_cast<size_t>(part)] = make_split(part, std::move(examples), count);
  }
  const auto assign = [&](const char* role, Part part, const std::optional<int64_t>& limit) {
    const std::shared_ptr<const Split>& all = whole[static_cast<size_t>(part)];
    if (!limit || *limit >= all->original) {
      log_info("[data] {}: {} examples of the {} part", role, all->original, all->name);
      return all;
    }
    std::vector<Example> sample;
    for (const int64_t index : limit_sample(all->original, *limit, seed, role))
      sample.push_back(all->examples[static_cast<size_t>(index)]);
    log_info("[data] {}: a seeded sample of {} of the {} examples of the {} part", role, *limit, all->original,
             all->name);
    return make_split(part, std::move(sample), all->original);
  };
  dataset.train = assign("train", Part::train, options.limit.train);
  dataset.score = assign("score", options.splits.score, options.limit.score);
  dataset.select = assign("select", options.splits.select, options.limit.select);
  dataset.report = assign("report", options.splits.report, options.limit.report);
  require_different_examples(dataset);
  describe_splits(dataset);
}

std::vector<UsedSplit> Dataset::used_splits() const {
  std::vector<UsedSplit> used;
  for (const auto& [role, split] : {std::pair("train", train), std::pair("score", score), std::pair("select", select),
                                    std::pair("report", report)}) {
    if (!split) continue;
    const auto same = std::find_if(used.begin(), used.end(), [&](const UsedSplit& one) { return one.split == split; });
    if (same == used.end())
      used.push_back({{role}, split});
    else
      same->roles.emplace_back(role);
  }
  return used;
}

std::vector<std::array<std::string, 2>> Dataset::shared_splits() const {
  const std::pair<const char*, const std::shared_ptr<const Split>&> roles[] = {
      {"train", train}, {"score", score}, {"select", select}, {"report", report}};
  std::vector<std::array<std::string, 2>> shared;
  for (size_t a = 0; a < std::size(roles); ++a)
    for (size_t b = a + 1; b < std::size(roles); ++b) {
      // Importances are meant to come from training data (docs/definitions.md "Words and splits").
      const bool intended = a == 0 && b == 1;
      const auto &first = roles[a].second, &second = roles[b].second;
      if (!intended && first && second && first->name == second->name)
        shared.push_back({roles[a].first, roles[b].first});
    }
  return shared;
}

}  // namespace headprune
