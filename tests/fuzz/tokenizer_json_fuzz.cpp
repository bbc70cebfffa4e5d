// tokenizer.json: a tokenizer that encodes any text to ids of its own, or our Error. Input: the file, and after a NUL
// byte the text to encode.
#include "core/error.h"
#include "core/text.h"
#include "data/tokenizer_readers.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headprune;
  const std::string_view input = as_text(data, size);
  const size_t end = input.find('\0');
  const std::string_view text = end == std::string_view::npos ? "Hello, w\u00f6rld! 1 [MASK]" : input.substr(end + 1);
  try {
    const auto tokenizer =
        read_tokenizer_json(TokenizerFiles("fuzz", {{"tokenizer.json", std::string(input.substr(0, end))}}));
    const auto valid = [&](const std::vector<int64_t>& ids) {
      for (const int64_t id : ids) must(id >= 0 && id < tokenizer->size(), "ids are the tokenizer's own");
    };
    if (!invalid_utf8(text)) valid(tokenizer->encode(text));
    for (const size_t texts : {1, 2}) {
      const SequenceForm form = tokenizer->form(texts);
      valid(form.before);
      valid(form.between);
      valid(form.after);
    }
  } catch (const Error& error) {
    must(error.code() == ExitCode::run_failed, "a damaged tokenizer is exit 4");
  }
  return 0;
}
