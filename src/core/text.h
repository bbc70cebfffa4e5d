// Text: UTF-8, splitting, suggestions, and numbers for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace headprune {

/// Byte offset of the first invalid UTF-8 sequence, or nothing when all is valid.
std::optional<size_t> invalid_utf8(std::string_view text);
/// Unicode NFC through utf8proc; `text` must be valid UTF-8.
std::string nfc(std::string_view text);
/// The code points of valid UTF-8, each as its own bytes.
std::vector<std::string_view> utf8_characters(std::string_view text);
/// Columns that `text` takes on a terminal (utf8proc's widths).
size_t display_width(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
/// The parts look into the text: one that ends with the expression would leave them hanging.
template <class Text>
requires std::same_as<std::remove_const_t<Text>, std::string> std::vector<std::string_view> split(Text&& text,
                                                                                                  char separator)
= delete;
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// The first `most` of them, then how many there are beyond: "a; b; and 7 more".
std::string join_some(const std::vector<std::string>& parts, std::string_view separator, size_t most);
std::string_view trim(std::string_view text);
/// A finite decimal number that is the whole text (std::from_chars: 0.5, -3, 1e-4); else nothing.
std::optional<double> parse_number(std::string_view text);

/// Optimal string alignment distance: insertions, deletions, substitutions and transpositions of neighbours cost 1.
size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `word` within max(2, length / 3) edits; nothing when none is that near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// For people: "1.2 s", "3 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);
/// For people: "512 B", "1.4 MiB".
std::string bytes_text(uint64_t bytes);

/// Current UTC time as 2026-01-02T03:04:05.678Z.
std::string utc_now();
/// Seconds of a monotonic clock, for durations.
double monotonic_seconds();

}  // namespace headprune
