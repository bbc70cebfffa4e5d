#include "data/tokenizer_files.h"

#include <algorithm>

#include "core/open_file.h"
#include "core/text.h"

namespace headprune {

TokenizerFiles::TokenizerFiles(const std::filesystem::path& folder) : folder_(folder) {
  for (const char* name : kTokenizerFiles)
    if (fs::exists(folder / name)) files_.emplace_back(name, read_file_up_to(folder / name, kMaxJsonFile));
}

const std::string* TokenizerFiles::find(std::string_view name) const {
  const auto at = std::find_if(files_.begin(), files_.end(), [name](const auto& file) { return file.first == name; });
  return at == files_.end() ? nullptr : &at->second;
}

Json TokenizerFiles::object(std::string_view name) const {
  if (!has(name)) return Json::object();
  Json json = parse_json(bytes(name), path(name));
  if (!json.is_object()) fail(ExitCode::run_failed, "{}: expected a JSON object", path(name));
  return json;
}

std::vector<std::string_view> TokenizerFiles::lines(std::string_view name) const {
  const std::string_view text = bytes(name);
  if (const auto bad = invalid_utf8(text))
    fail(ExitCode::run_failed, "{}:{}: invalid UTF-8 (byte {} of the file); get the file again", path(name),
         std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n') + 1, *bad);
  std::vector<std::string_view> found = split(text, '\n');
  if (found.back().empty()) found.pop_back();
  for (std::string_view& line : found)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return found;
}

void TokenizerFiles::write(FolderWriter& folder) const {
  for (const auto& [name, bytes] : files_) folder.write(name, bytes);
}

}  // namespace headprune
