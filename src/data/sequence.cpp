#include "data/sequence.h"

#include <algorithm>

namespace headprune {

int64_t sequence_length(const TextIds& texts, const SequenceForm& form) {
  int64_t length = form.specials(texts.size());
  for (const std::vector<int64_t>& text : texts) length += static_cast<int64_t>(text.size());
  return length;
}

namespace {

void keep(std::vector<int64_t>& text, size_t count, const SequenceForm& form) {
  if (form.cut_left)
    text.erase(text.begin(), text.end() - static_cast<std::ptrdiff_t>(count));
  else
    text.resize(count);
}

}  // namespace

void cut_texts(TextIds& texts, const SequenceForm& form, int64_t max_length) {
  if (sequence_length(texts, form) <= max_length) return;
  const auto room = static_cast<size_t>(std::max<int64_t>(0, max_length - form.specials(texts.size())));
  if (texts.size() == 1) {
    keep(texts[0], room, form);
    return;
  }
  const bool first_longer = texts[0].size() > texts[1].size();
  std::vector<int64_t>&longer = texts[first_longer ? 0 : 1], &shorter = texts[first_longer ? 1 : 0];
  const size_t kept = std::min(shorter.size(), room / 2);
  keep(shorter, kept, form);
  keep(longer, room - kept, form);
}

Example assemble(const TextIds& texts, const SequenceForm& form) {
  Example example;
  const auto add_specials = [&example](const std::vector<int64_t>& ids) {
    for (const int64_t id : ids) {
      example.special.push_back(static_cast<int64_t>(example.tokens.size()));
      example.tokens.push_back(id);
    }
  };
  add_specials(form.before);
  example.tokens.insert(example.tokens.end(), texts[0].begin(), texts[0].end());
  if (texts.size() > 1) {
    add_specials(form.between);
    if (form.second_type) example.token_types.assign(example.tokens.size() - form.typed_between, 0);
    example.tokens.insert(example.tokens.end(), texts[1].begin(), texts[1].end());
  }
  add_specials(form.after);
  if (form.second_type && texts.size() > 1) example.token_types.resize(example.tokens.size(), 1);
  return example;
}

}  // namespace headprune
