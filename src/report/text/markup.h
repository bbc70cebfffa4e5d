// User text inside XML, HTML and Markdown.
#pragma once

#include <string>
#include <string_view>

namespace headprune {

/// Escapes & < > " '; what XML 1.0 cannot hold (most control characters, U+FFFE, U+FFFF) and invalid UTF-8 become
/// U+FFFD, since escaping them is illegal too. Fits element content and quoted attributes of XML and HTML.
std::string xml_escape(std::string_view text);

/// One table cell or sentence of Markdown: characters with a meaning are escaped, line ends become spaces.
std::string markdown_escape(std::string_view text);

}  // namespace headprune
