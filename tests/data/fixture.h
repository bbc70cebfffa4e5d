// Data sources chosen as in a configuration file, and files to read in a fresh folder.
#pragma once

#include "config/load.h"
#include "core/log.h"
#include "data/source.h"
#include "support/catch_torch.h"
#include "support/folder.h"

namespace headprune::test {

namespace fs = std::filesystem;

struct DataConfig {
  Plugin<DataSource> data;
  template <class V>
  void fields(V& v) {
    v("data", data, "source under test", required);
  }
};

/// `options` is flow-style YAML: "type: tsv, path: x, header: true".
inline std::shared_ptr<const DataSource> source(const std::string& options, const fs::path& folder = "/") {
  set_log_level(LogLevel::off);
  const ConfigText text{.name = "test.yaml", .text = "data: {" + options + "}\n", .folder = folder};
  return load_config<DataConfig>(text).value.data.make();
}

inline Dataset load(const std::string& options, const fs::path& folder = "/", uint64_t seed = 1) {
  return source(options, folder)->load({.seed = seed, .tokenizer = nullptr});
}

/// Code and sentence of the Error that loading throws.
inline std::pair<ExitCode, std::string> load_error(const std::string& options, const fs::path& folder = "/") {
  try {
    load(options, folder);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::ok, "no error"};
}

/// Tokens of an example as text, joined by spaces.
inline std::string spell(const Dataset& data, const Example& example) {
  std::string text;
  for (const int64_t id : example.tokens) text += (text.empty() ? "" : " ") + data.tokenizer->token(id);
  return text;
}

}  // namespace headprune::test
