// Folders with small tokenizers, and what the `tokenizers` library makes of texts (tests/golden).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "data/tokenizer.h"
#include "support/folder.h"

namespace headprune::test {

inline fs::path tokenizer_goldens() { return fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/tokenizers"; }

inline Json golden_json(const std::string& name) {
  const fs::path path = tokenizer_goldens() / name;
  return parse_json(read_file(path), path.string());
}

/// The files of a committed tokenizer but `without` one.
inline void copy_tokenizer(const std::string& name, const TestFolder& to, const std::string& without) {
  for (const auto& entry : fs::directory_iterator(tokenizer_goldens() / name))
    if (entry.path().filename() != without) to.write(entry.path().filename().string(), read_file(entry.path()));
}

/// Files of a folder by name.
using FolderText = std::map<std::string, std::string>;

/// Code and sentence of the Error that reading a tokenizer from these files throws.
inline std::pair<ExitCode, std::string> tokenizer_error(const FolderText& files) {
  const TestFolder folder;
  for (const auto& [name, text] : files) folder.write(name, text);
  try {
    read_tokenizer(folder.path());
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::ok, "no error"};
}

inline std::shared_ptr<const Tokenizer> tokenizer_of(const FolderText& files) {
  const TestFolder folder;
  for (const auto& [name, text] : files) folder.write(name, text);
  return read_tokenizer(folder.path());
}

}  // namespace headprune::test
