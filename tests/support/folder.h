// A folder of a test's own.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files.h"

namespace headprune {

/// Fresh, and removed at the end of the test.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (fs::temp_directory_path() / "headprune-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

  /// Writes a file, with the folders above it; returns its path.
  fs::path write(const std::string& name, const std::string& bytes) const {
    make_folders((path_ / name).parent_path());
    write_file(path_ / name, bytes, Sync::no);
    return path_ / name;
  }

  /// Sorted names of what lies in it.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

}  // namespace headprune
