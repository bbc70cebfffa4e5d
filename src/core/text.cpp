#include "core/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <stdexcept>

namespace headprune {
namespace {

/// Bytes of the code point at the start of `text`, which it also returns; 0 when the sequence is invalid.
size_t next_code_point(std::string_view text, int32_t* code_point) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), code_point);
  return length > 0 ? static_cast<size_t>(length) : 0;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::optional<size_t> invalid_utf8(std::string_view text) {
  int32_t code_point = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = next_code_point(text.substr(i), &code_point);
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

std::string nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* mapped = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (length < 0) throw std::logic_error(fmt::format("nfc: {}", utf8proc_errmsg(length)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(length)};
}

std::vector<std::string_view> utf8_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  int32_t code_point = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = next_code_point(text.substr(i), &code_point);
    if (length == 0) throw std::logic_error("utf8_characters: invalid UTF-8");
    characters.push_back(text.substr(i, length));
    i += length;
  }
  return characters;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  int32_t code_point = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = next_code_point(text.substr(i), &code_point);
    // A bad byte is shown as one replacement character.
    width += length == 0 ? 1 : static_cast<size_t>(std::max(0, utf8proc_charwidth(code_point)));
    i += std::max<size_t>(1, length);
  }
  return width;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string join_some(const std::vector<std::string>& parts, std::string_view separator, size_t most) {
  if (parts.size() <= most) return join(parts, separator);
  const auto end = parts.begin() + static_cast<std::ptrdiff_t>(most);
  return fmt::format("{}{}and {} more", fmt::join(parts.begin(), end, separator), separator, parts.size() - most);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme: a transposition looks two rows back.
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  const std::string* found = nullptr;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    found = &candidate;
  }
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 59.95) return fmt::format("{:.1f} s", std::max(0.0, seconds));
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const auto minutes = static_cast<int64_t>(std::llround(seconds / 60));
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would print as 1024.0 of the smaller unit.
  for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string utc_now() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const auto utc = fmt::gmtime(std::chrono::system_clock::to_time_t(second));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", utc, (now - second).count());
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace headprune
