// The files of a model folder that make up its tokenizer, kept as they are.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/json.h"

namespace headprune {

inline constexpr const char* kTokenizerFiles[] = {"tokenizer.json",
                                                  "tokenizer_config.json",
                                                  "special_tokens_map.json",
                                                  "added_tokens.json",
                                                  "vocab.txt",
                                                  "vocab.json",
                                                  "merges.txt",
                                                  "tokenizer.model",
                                                  "source.spm",
                                                  "target.spm"};

/// Bytes of the kTokenizerFiles that are there.
class TokenizerFiles {
 public:
  explicit TokenizerFiles(const std::filesystem::path& folder);
  /// Files that stand in memory, by name; `folder` is how errors call their place.
  TokenizerFiles(std::filesystem::path folder, std::vector<std::pair<std::string, std::string>> files)
      : folder_(std::move(folder)), files_(std::move(files)) {}

  const std::filesystem::path& folder() const { return folder_; }
  /// As errors name it.
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Of a file that is there.
  const std::string& bytes(std::string_view name) const { return *find(name); }
  /// An empty object where the file is not there. Throws Error(run_failed): not JSON, not an object.
  Json object(std::string_view name) const;
  /// Without their ends, of a file that is there. Throws Error(run_failed): not UTF-8.
  std::vector<std::string_view> lines(std::string_view name) const;

  void write(FolderWriter& folder) const;

 private:
  const std::string* find(std::string_view name) const;

  std::filesystem::path folder_;
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace headprune
