// JSON whose types are other ones than this program writes, with right checksums and digests, through the real binary.
#include "cli/program.h"
#include "core/text.h"
#include "support/catch.h"
#include "support/journal.h"

namespace headprune {

namespace {

const std::vector<std::string>& odd_values() {
  static const std::vector<std::string> values = {
      "null",   "true",    "-1", "1.5",      "1e300",   "18446744073709551615", "\"x\"", "\"\"", "[]", "[[]]",
      "[null]", "[-1,-1]", "{}", "{\"\":0}", "[\"x\"]", "{\"x\":[1]}"};
  return values;
}

/// Every member of `json`, at any depth; of lists the first.
void pointers(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& found) {
  if (json.is_object())
    for (const auto& [key, value] : json.items()) {
      found.push_back(at / key);
      pointers(value, at / key, found);
    }
  if (json.is_array() && !json.empty()) {
    found.push_back(at / 0);
    pointers(json[0], at / 0, found);
  }
}

bool answered(const Finished& finished) {
  for (const int code : {0, 2, 4, 10, 11, 12, 13})
    if (finished.code == code) return true;
  return false;
}

}  // namespace

TEST_CASE("inspect names the place in a file of ours with other types", "[cli][hostile]") {
  const TestFolder folder;
  const std::pair<const char*, const char*> files[] = {
      {R"({"pruning":{},"results":{}})", "\"state\" is missing"},
      {R"({"pruning":{},"results":{},"state":"completed"})", "pruning: \"curves\" is missing"},
      {R"({"pruning":[],"results":{},"state":"completed"})", "pruning: must be an object"},
      {R"({"pruning":null,"results":{},"state":1})", "state: must be text"},
      {R"({"pruning":{"curves":{},"sensitivity":[]},"results":{},"state":"x"})", "pruning.curves: must be a list"},
      {R"({"fingerprint":{},"config_files":[],"name":1,"created":2})", "name: must be text"},
      {R"({"heartbeat":1,"state":{}})", "state: must be text"},
      {R"({"files":1,"schema_version":1})", "is not a manifest"},
      {R"({"files":[1],"schema_version":1})", "is not a manifest"},
      {R"({"files":[{"name":1,"bytes":2,"sha256":3}],"schema_version":1})", "is not a manifest"},
      {R"({"files":[{"name":"a","bytes":1e300,"sha256":"b"}],"schema_version":1})", "is not a manifest"},
      {R"({"v":1})", "none that headprune writes"},
      {R"({"abcd":{"x":1}})", "none that headprune writes"},
      {R"([1])", "of no kind"}};
  for (const auto& [text, part] : files) {
    folder.write("manifest.json", text);
    const Finished finished = shell_in(folder.path(), "$T $H inspect manifest.json");
    INFO(text);
    CHECK(finished.code == 4);
    CHECK_THAT(finished.err, ContainsSubstring("manifest.json") && ContainsSubstring(part));
  }
}

TEST_CASE("a journal with right checksums and other types is refused by its line", "[cli][hostile]") {
  const TestFolder folder;
  fs::copy(finished_run(), folder / "run", fs::copy_options::recursive);
  const std::vector<Json> lines = read_framed(folder / "run/journal.jsonl").lines;
  const auto with = [&](size_t at, const Json& changed) {
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) text += frame_line(i == at ? changed : lines[i]);
    write_file(folder / "run/journal.jsonl", text, Sync::no);
  };
  const auto first = [&](const char* event, const char* key) {
    for (size_t i = 0; i < lines.size(); ++i)
      if (lines[i]["ev"] == event && (!*key || lines[i].contains(key))) return i;
    FAIL("no " << event);
    return size_t{0};
  };
  struct Case {
    const char *event, *pointer, *value;  // value "" : removed
  };
  const Case cases[] = {{"point_done", "/spec/heads_removed", ""},
                        {"point_done", "/spec/heads_removed", "-1"},
                        {"point_done", "/spec/heads_removed", "true"},
                        {"point_done", "/spec/seed", "1.5"},
                        {"point_done", "/spec", "[]"},
                        {"point_done", "/fraction", "7"},
                        {"point_done", "/metrics", "[1]"},
                        {"point_done", "/metrics/accuracy", "3"},
                        {"point_done", "/heads_total", "18446744073709551615"},
                        {"point_done", "/removed", "[]"},
                        {"score", "/scores", "1"},
                        {"score", "/heads", "[1,0]"},
                        {"score", "/heads", "[-1,0]"},
                        {"score", "/layer", "-1"},
                        {"score", "/n", "\"x\""},
                        {"analysis", "/columns", "{\"a\":1}"},
                        {"analysis", "/analysis", "\"../../x\""},
                        {"analysis_done", "/strengths", "{\"a\":1}"},
                        {"analysis_done", "/roles", "5"},
                        {"facts", "/facts/blocks", "1"},
                        {"facts", "/facts/blocks/0/layer", "\"x\""},
                        {"facts", "/facts/metrics/0/range", "[1]"},
                        {"facts", "/facts/shared_splits", "[[1,2]]"},
                        {"facts", "/facts/bootstrap_iters", "true"},
                        {"run_start", "/tool/dirty", "\"no\""},
                        {"env", "/fingerprint", "[]"},
                        {"env", "/fingerprint/device", "9"},
                        {"env", "/fingerprint/threads", "{}"},
                        {"run_done", "/points", "[]"},
                        {"timing", "/seconds", "[\"x\"]"},
                        {"surgery", "/ok", "1"},
                        {"checkpoint", "/path", "1"}};
  for (const Case& one : cases) {
    const Json::json_pointer pointer(one.pointer);
    size_t at = first(one.event, "");
    while (at < lines.size() && !(lines[at]["ev"] == one.event && lines[at].contains(pointer) &&
                                  (one.event != std::string("point_done") || lines[at]["spec"]["rule"] == "one_shot")))
      ++at;
    REQUIRE(at < lines.size());
    Json changed = lines[at];
    if (*one.value)
      changed[pointer] = parse_json(one.value, "value");
    else
      changed[pointer.parent_pointer()].erase(pointer.back());
    with(at, changed);
    for (const char* command : {"report run --to views", "inspect run/journal.jsonl"}) {
      const Finished finished = shell_in(folder.path(), std::string("$T $H ") + command);
      INFO(one.event << one.pointer << " = " << one.value << ": " << finished.err);
      CHECK(finished.code == 4);
      CHECK_THAT(finished.err, ContainsSubstring(fmt::format("journal.jsonl:{}: bad line", at + 1)));
    }
  }
}

TEST_CASE("no value of another type in a file of a run ends a reader unexpectedly", "[cli][hostile]") {
  const TestFolder folder;
  fs::copy(finished_run(), folder / "run", fs::copy_options::recursive);
  const std::pair<const char*, std::vector<std::string>> readers[] = {
      {"run.json", {"runs info run", "report run --to views"}},
      {"status.json", {"runs ls .", "runs info run"}},
      {"results.json", {"inspect run/results.json"}}};
  for (const auto& [name, commands] : readers) {
    const Json intact = parse_json(read_file(folder / "run" / name), name);
    std::vector<Json::json_pointer> all, found;
    pointers(intact, Json::json_pointer(), all);
    // Some of each file, never the same neighbours twice.
    for (size_t i = 0; i < all.size(); i += std::max<size_t>(1, all.size() / 12)) found.push_back(all[i]);
    for (size_t i = 0; i < found.size(); ++i) {
      Json changed = intact;
      const std::string& value = odd_values()[i % odd_values().size()];
      changed[found[i]] = parse_json(value, "value");
      write_file(folder / "run" / name, dump_json_file(changed), Sync::no);
      for (const std::string& command : commands) {
        const Finished finished = shell_in(folder.path(), "$T $H " + command);
        INFO(name << found[i].to_string() << " = " << value << ": " << command << ": " << finished.err);
        CHECK(answered(finished));
      }
    }
    write_file(folder / "run" / name, dump_json_file(intact), Sync::no);
  }
}

TEST_CASE("no value of another type in a model folder ends a reader unexpectedly", "[cli][hostile]") {
  const TestFolder folder;
  const fs::path golden = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden";
  make_folders(folder / "model");
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy(golden / "choices" / name, folder / "model" / name);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    fs::copy(golden / "tokenizers/byte_bpe" / name, folder / "model" / name);
  folder.write("model/generation_config.json", R"({"eos_token_id":[1,2],"num_beams":1})");
  size_t turn = 0;
  for (const char* name : {"config.json", "tokenizer_config.json", "generation_config.json", "tokenizer.json"}) {
    const std::string text = read_file(folder / "model" / name);
    const Json intact = parse_json(text, name);
    std::vector<Json::json_pointer> all;
    pointers(intact, Json::json_pointer(), all);
    for (size_t i = 0; i < all.size(); i += std::max<size_t>(1, all.size() / 12)) {
      Json changed = intact;
      const std::string& value = odd_values()[turn++ % odd_values().size()];
      changed[all[i]] = parse_json(value, "value");
      write_file(folder / "model" / name, dump_json_file(changed), Sync::no);
      const Finished finished =
          shell_in(folder.path(), "$T $H generate model --prompt a --max-new-tokens 1 && $T $H inspect model");
      INFO(name << all[i].to_string() << " = " << value << ": " << finished.err);
      CHECK(answered(finished));
    }
    write_file(folder / "model" / name, text, Sync::no);
  }
}

}  // namespace headprune
