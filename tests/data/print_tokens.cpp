// print_tokens FOLDER: a JSON string a line in, what the folder's tokenizer makes of it out, for
// tests/golden/agree_tokenizers.py. A line out is {"ids", with special tokens; "spans": [begin, end] in bytes of each
// token that is none of these, or null; "text": what the ids of these tokens are decoded to}.
#include <cstdio>
#include <iostream>

#include "core/error.h"
#include "core/json.h"
#include "data/sequence.h"

using namespace headprune;

int main(int argc, char** argv) try {
  if (argc != 2) fail(ExitCode::usage, "usage: print_tokens MODEL_FOLDER < LINES");
  const auto tokenizer = read_tokenizer(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    const std::string text = parse_json(line, "a line").get<std::string>();
    const std::vector<int64_t> ids = tokenizer->encode(text);
    Json spans;
    if (const auto found = tokenizer->locate(text)) {
      spans = Json::array();
      for (const TextSpan& span : *found) spans.push_back({span.begin, span.end});
    }
    std::cout << dump_json(Json{{"ids", assemble({ids}, tokenizer->form(1)).tokens},
                                {"spans", std::move(spans)},
                                {"text", tokenizer->decode(ids)}})
              << '\n';
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
