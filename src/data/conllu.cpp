#include "data/conllu.h"

#include <charconv>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace headprune {
namespace {

/// A token as it stands in the text: a word, or several of them under one form.
struct Surface {
  std::string form;
  size_t first = 0, last = 0;  // places of its words
  bool space_after = true;
};

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {}

  std::vector<SyntaxSentence> read() {
    const std::string text = read_file(path_);
    for (std::string_view line : split(text, '\n')) {
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty())
        finish();
      else if (line.starts_with('#'))
        comment(line);
      else
        word(split(line, '\t'));
    }
    finish();
    if (sentences_.empty())
      fail(ExitCode::usage, "{} holds no sentence: expected CoNLL-U, ten fields a word between tabs", path_.string());
    return std::move(sentences_);
  }

 private:
  template <class... Args>
  [[noreturn]] void bad(int64_t line, fmt::format_string<Args...> what, Args&&... args) const {
    fail(ExitCode::run_failed, "{}:{}: {}", path_.string(), line, fmt::format(what, std::forward<Args>(args)...));
  }

  int64_t number(std::string_view text, const char* what) const {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      bad(line_, "{} '{}' is no number", what, text);
    return value;
  }

  void comment(std::string_view line) {
    constexpr std::string_view kText = "# text = ";
    if (line.starts_with(kText)) sentence_.text = line.substr(kText.size());
  }

  void word(const std::vector<std::string_view>& fields) {
    if (fields.size() != 10) bad(line_, "{} fields between tabs, and CoNLL-U has 10", fields.size());
    const std::string_view id = fields[0];
    if (id.find('.') != std::string_view::npos) return;  // an empty node stands in no text
    if (sentence_.words.empty() && surfaces_.empty()) sentence_.name = fmt::format("{}:{}", path_.string(), line_);
    const bool space = fields[9].find("SpaceAfter=No") == std::string_view::npos;
    if (const size_t dash = id.find('-'); dash != std::string_view::npos) {
      const int64_t first = number(id.substr(0, dash), "the id"), last = number(id.substr(dash + 1), "the id");
      if (first != std::ssize(sentence_.words) + 1 || last < first)
        bad(line_, "the range {} does not begin with the next word", id);
      surfaces_.push_back(
          {std::string(fields[1]), static_cast<size_t>(first - 1), static_cast<size_t>(last - 1), space});
      return;
    }
    const size_t place = sentence_.words.size();
    if (number(id, "the id") != std::ssize(sentence_.words) + 1)
      bad(line_, "word {} follows word {}", id, sentence_.words.size());
    SyntaxWord one;
    one.form = fields[1];
    one.lemma = fields[2];
    one.part_of_speech = fields[3];
    if (fields[6] == "_") bad(line_, "the word has no head; give the file a dependency tree");
    one.head = number(fields[6], "the head") - 1;
    one.relation = fields[7].substr(0, fields[7].find(':'));
    sentence_.words.push_back(std::move(one));
    lines_.push_back(line_);
    if (surfaces_.empty() || surfaces_.back().last < place || surfaces_.back().first > place)
      surfaces_.push_back({std::string(fields[1]), place, place, space});
  }

  /// Gives the words of a token their parts of it, where they spell it.
  void place_words(const Surface& surface, size_t begin) {
    std::string spelled;
    for (size_t i = surface.first; i <= surface.last; ++i) spelled += sentence_.words[i].form;
    if (spelled != surface.form) return;
    for (size_t i = surface.first; i <= surface.last; ++i) {
      sentence_.words[i].span = {begin, begin + sentence_.words[i].form.size()};
      begin = sentence_.words[i].span.end;
    }
  }

  void finish() {
    if (sentence_.words.empty()) {
      if (!surfaces_.empty()) bad(line_, "a range without words");
      sentence_ = {};
      return;
    }
    const int64_t count = std::ssize(sentence_.words);
    for (size_t i = 0; i < sentence_.words.size(); ++i) {
      const int64_t head = sentence_.words[i].head;
      if (head >= count || head == static_cast<int64_t>(i))
        bad(lines_[i], "the head {} is no other word of a sentence of {}", head + 1, count);
    }
    if (surfaces_.back().last >= sentence_.words.size()) bad(line_, "a range reaches beyond the sentence");
    const bool given = !sentence_.text.empty();
    size_t at = 0;
    for (size_t i = 0; i < surfaces_.size(); ++i) {
      const Surface& surface = surfaces_[i];
      if (!given) {
        if (i > 0 && surfaces_[i - 1].space_after) sentence_.text += ' ';
        at = sentence_.text.size();
        sentence_.text += surface.form;
      } else {
        while (sentence_.text.compare(at, surface.form.size(), surface.form) != 0 && at < sentence_.text.size() &&
               sentence_.text[at] == ' ')
          ++at;
        if (sentence_.text.compare(at, surface.form.size(), surface.form) != 0)
          bad(lines_[surface.first], "'{}' does not follow in the sentence's text, \"{}\"", surface.form,
              sentence_.text);
      }
      place_words(surface, at);
      at += surface.form.size();
    }
    sentences_.push_back(std::move(sentence_));
    sentence_ = {};
    surfaces_.clear();
    lines_.clear();
  }

  fs::path path_;
  int64_t line_ = 0;
  SyntaxSentence sentence_;
  std::vector<Surface> surfaces_;
  std::vector<int64_t> lines_;  // of the words
  std::vector<SyntaxSentence> sentences_;
};

}  // namespace

std::vector<SyntaxSentence> read_conllu(const std::filesystem::path& path) { return Reader(path).read(); }

}  // namespace headprune
