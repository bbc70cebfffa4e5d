#include "data/text_lines.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace headprune {

std::vector<std::string> read_text_lines(const std::filesystem::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string text = read_file(path);
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (rest.ends_with('\n')) rest.remove_suffix(1);

  std::vector<std::string> lines;
  if (rest.empty() && !text.ends_with('\n')) return lines;
  for (std::string_view line : split(rest, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto bad = invalid_utf8(line))
      fail(ExitCode::run_failed, "{}:{}: invalid UTF-8 at byte {} of the line; convert the file to UTF-8",
           path.string(), lines.size() + 1, *bad + 1);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace headprune
