// parse_json(): returns a value that prints and reads back as itself, or throws our Error.
#include "core/json.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headprune;
  try {
    const Json json = parse_json(as_text(data, size), "fuzz.json");
    const std::string printed = dump_json(json);
    must(parse_json(printed, "printed") == json, "a printed value reads back as itself");
    must(parse_json(dump_json_file(json), "file") == json, "an indented value reads back as itself");
    const std::string canonical = canonical_json(json);
    must(canonical_json(parse_json(printed, "printed")) == canonical, "equal values have one canonical form");
  } catch (const Error& error) {
    must(error.code() == ExitCode::run_failed, "damaged JSON is exit 4");
  }
  return 0;
}
