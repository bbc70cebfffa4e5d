#include "metric/bleu.h"

#include <cmath>
#include <map>
#include <utility>

#include "metric/ngrams.h"
#include "metric/text_metric.h"

namespace headprune {

namespace {

constexpr size_t kBleuOrder = 4;

// The rules of 13a name ASCII characters only, and no byte of a longer character is ASCII: bytes do as well.
bool ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool stop_or_comma(char c) { return c == '.' || c == ','; }

/// ASCII without letters, digits, controls and '-., (space is in it).
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

std::string with_replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string_view::npos; at = found + from.size())
    result.append(text, at, found - at).append(to);
  return result.append(text, at);
}

std::string apart(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (stands_alone(c))
      result.append({' ', c, ' '});
    else
      result += c;
  }
  return result;
}

/// A substitution of 13a: two neighbours for which `first` and `second` hold get a space between them, and one before
/// or behind them. It goes from left to right over what no match has taken yet, so that not every stop of "..." is
/// matched.
struct PairRule {
  bool (*first)(char);
  bool (*second)(char);
  bool before, behind;
};

const PairRule kPairRules[] = {
    {.first = [](char c) { return !ascii_digit(c); }, .second = stop_or_comma, .before = false, .behind = true},
    {.first = stop_or_comma, .second = [](char c) { return !ascii_digit(c); }, .before = true, .behind = false},
    {.first = ascii_digit, .second = [](char c) { return c == '-'; }, .before = false, .behind = true},
};

std::string spaced(const std::string& text, const PairRule& rule) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !rule.first(text[i]) || !rule.second(text[i + 1])) {
      result += text[i];
      continue;
    }
    if (rule.before) result += ' ';
    result.append({text[i], ' ', text[i + 1]});
    if (rule.behind) result += ' ';
    ++i;
  }
  return result;
}

/// Equal tokens of the two get equal numbers.
std::vector<int32_t> numbered(const std::vector<std::string>& tokens, std::map<std::string, int32_t>& numbers) {
  std::vector<int32_t> result;
  for (const std::string& token : tokens)
    result.push_back(numbers.emplace(token, static_cast<int32_t>(numbers.size())).first->second);
  return result;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view text) {
  // White space behind the last word goes first: a line break there would take a hyphen with it.
  const std::vector<std::string_view> words = python_words(text);
  if (words.empty()) return {};
  std::string line(text.substr(0, static_cast<size_t>(words.back().data() - text.data()) + words.back().size()));
  // In this order: "&amp;lt;" becomes "<".
  for (const auto& [from, to] : {std::pair{"<skipped>", ""},
                                 {"-\n", ""},
                                 {"\n", " "},
                                 {"&quot;", "\""},
                                 {"&amp;", "&"},
                                 {"&lt;", "<"},
                                 {"&gt;", ">"}})
    line = with_replaced(line, from, to);
  line = apart(" " + line + " ");
  for (const PairRule& rule : kPairRules) line = spaced(line, rule);
  const std::vector<std::string_view> tokens = python_words(line);
  return {tokens.begin(), tokens.end()};
}

BleuStatistics bleu_statistics(std::string_view hypothesis, std::string_view reference) {
  std::map<std::string, int32_t> numbers;
  const std::vector<int32_t> ours = numbered(tokenize_13a(hypothesis), numbers);
  const std::vector<int32_t> wanted = numbered(tokenize_13a(reference), numbers);
  BleuStatistics statistics = {static_cast<double>(ours.size()), static_cast<double>(wanted.size())};
  for (size_t n = 1; n <= kBleuOrder; ++n) {
    statistics[1 + n] = static_cast<double>(matched_ngrams(ours, wanted, n));
    statistics[1 + kBleuOrder + n] = static_cast<double>(ngram_count(ours.size(), n));
  }
  return statistics;
}

double bleu_of(std::span<const double> sums) {
  const double ours = sums[0], wanted = sums[1];
  const std::span<const double> matched = sums.subspan(2, kBleuOrder), all = sums.subspan(2 + kBleuOrder, kBleuOrder);
  // Without a common word nothing is smoothed; without any n-gram of an order its precision is 0. A match of a higher
  // order is one of order 1 too.
  if (matched[0] == 0 || all[kBleuOrder - 1] == 0) return 0;
  double logarithms = 0, smoothing = 1;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    if (matched[n] == 0) smoothing *= 2;
    logarithms += std::log(100 * (matched[n] == 0 ? 1 / smoothing : matched[n]) / all[n]);
  }
  const double brevity = ours < wanted ? std::exp(1 - wanted / ours) : 1;
  return brevity * std::exp(logarithms / kBleuOrder);
}

namespace {

class Bleu final : public TextMetric {
 public:
  explicit Bleu(Options) {}
  std::string signature() const override { return std::string(kBleuSignature); }

 protected:
  ExampleMetric of_corpus(const Outcomes& outcomes) const override {
    return of_text_statistics(outcomes, bleu_statistics, bleu_of);
  }
};

const Register<Metric, Bleu> register_bleu{"bleu", "corpus BLEU as sacreBLEU computes it"};

}  // namespace

}  // namespace headprune
