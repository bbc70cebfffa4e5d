// Plain text files line by line, as docs/formats.md section 4 accepts them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headprune {

/// The lines of a file without their ends; a byte order mark, CRLF and a last line without its end are accepted. Throws
/// Error(usage) for a file that cannot be read and Error(run_failed) "file:line: ..." for invalid UTF-8.
std::vector<std::string> read_text_lines(const std::filesystem::path& path);

}  // namespace headprune
