#include "core/text.h"

#include <cmath>
#include <regex>
#include <stdexcept>

#include "support/catch.h"

using namespace headprune;

namespace {

template <class Text>
concept Splits = requires(Text&& text) {
  split(std::forward<Text>(text), ',');
};
static_assert(Splits<std::string&> && Splits<const std::string&> && Splits<std::string_view> && Splits<const char*>);
static_assert(!Splits<std::string> && !Splits<const std::string>, "parts of a text that is gone would hang");

}  // namespace

TEST_CASE("invalid UTF-8 is found at its first byte", "[core]") {
  CHECK_FALSE(invalid_utf8(""));
  CHECK_FALSE(invalid_utf8("plain"));
  CHECK_FALSE(invalid_utf8("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"));  // a umlaut, euro, emoji
  CHECK_FALSE(invalid_utf8("\xF4\x8F\xBF\xBF"));                      // U+10FFFF
  CHECK_FALSE(invalid_utf8(std::string("a\0b", 3)));
  CHECK(invalid_utf8("ab\xFF") == 2u);
  CHECK(invalid_utf8("\x80") == 0u);              // continuation without a start
  CHECK(invalid_utf8("a\xC3") == 1u);             // cut short
  CHECK(invalid_utf8("a\xE2\x82") == 1u);         // cut short
  CHECK(invalid_utf8("\xC0\xAF") == 0u);          // overlong slash
  CHECK(invalid_utf8("\xE0\x80\xAF") == 0u);      // overlong slash
  CHECK(invalid_utf8("\xF0\x80\x80\xAF") == 0u);  // overlong slash
  CHECK(invalid_utf8("\xED\xA0\x80") == 0u);      // surrogate U+D800
  CHECK(invalid_utf8("\xF4\x90\x80\x80") == 0u);  // U+110000
}

TEST_CASE("NFC composes, keeps what cannot be composed, and refuses bad bytes", "[core]") {
  CHECK(nfc("plain") == "plain");
  CHECK(nfc("e\xCC\x81") == "\xC3\xA9");  // e + combining acute
  CHECK(nfc("\xC3\xA9") == "\xC3\xA9");
  CHECK(nfc("\xE2\x84\xAB") == "\xC3\x85");      // angstrom sign
  CHECK(nfc("\xEF\xAC\x81") == "\xEF\xAC\x81");  // the ligature fi stays: NFC, not NFKC
  CHECK(nfc(std::string("\xC3\xA9\0x", 4)) == std::string("\xC3\xA9\0x", 4));
  CHECK_THROWS_AS(nfc("\xC3"), std::logic_error);
}

TEST_CASE("characters and columns of a text", "[core]") {
  CHECK(utf8_characters("a\xC3\xA4\xF0\x9F\x98\x80") ==
        std::vector<std::string_view>{"a", "\xC3\xA4", "\xF0\x9F\x98\x80"});
  CHECK(utf8_characters("").empty());
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xE6\xBC\xA2\xE5\xAD\x97") == 4);  // two wide characters
  CHECK(display_width("e\xCC\x81") == 1);                 // combining accent
  CHECK(display_width("a\xFF") == 2);
}

TEST_CASE("split keeps empty parts, join puts them back", "[core]") {
  CHECK(split("a\tb", '\t') == std::vector<std::string_view>{"a", "b"});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
  CHECK(split(",a,,", ',') == std::vector<std::string_view>{"", "a", "", ""});
  CHECK(join({"", "a", "", ""}, ",") == ",a,,");
  CHECK(join({}, ",").empty());
  CHECK(join_some({"a", "b", "c"}, "; ", 3) == "a; b; c");
  CHECK(join_some({"a", "b", "c", "d", "e"}, "; ", 3) == "a; b; c; and 2 more");
}

TEST_CASE("trim takes white space off both ends only", "[core]") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("a") == "a");
  CHECK(trim(" \n").empty());
  CHECK(trim("").empty());
}

TEST_CASE("edit distance is optimal string alignment", "[core]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("abcd", "acbd") == 1);  // one transposition
  CHECK(edit_distance("ca", "abc") == 3);     // 2 with unrestricted Damerau-Levenshtein
  CHECK(edit_distance("a cat", "an abct") == 4);
  CHECK(edit_distance("learning_rate", "learning_rate") == 0);
}

TEST_CASE("the nearest word is suggested within max(2, length / 3) edits", "[core]") {
  const std::vector<std::string> words = {"layers", "heads", "learning_rate"};
  CHECK(nearest("layesr", words) == "layers");
  CHECK(nearest("head", words) == "heads");
  CHECK(nearest("lerning_raet", words) == "learning_rate");
  CHECK(nearest("learn_rate", words) == "learning_rate");  // 3 edits of 10 letters
  CHECK_FALSE(nearest("lea_rate", words));                 // 5 edits of 8 letters
  CHECK_FALSE(nearest("optimizer", words));
  CHECK_FALSE(nearest("x", {}));
}

TEST_CASE("durations for people", "[core]") {
  CHECK(duration_text(0) == "0.0 s");
  CHECK(duration_text(1.24) == "1.2 s");
  CHECK(duration_text(59.94) == "59.9 s");
  CHECK(duration_text(59.96) == "1 min 00 s");
  CHECK(duration_text(185.4) == "3 min 05 s");
  CHECK(duration_text(3599.4) == "59 min 59 s");
  CHECK(duration_text(3599.6) == "1 h 00 min");
  CHECK(duration_text(3720) == "1 h 02 min");
  CHECK(duration_text(100 * 3600) == "100 h 00 min");
  CHECK(duration_text(std::nan("")) == "unknown");
}

TEST_CASE("sizes for people", "[core]") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1468006) == "1.4 MiB");
  CHECK(bytes_text(1048575) == "1.0 MiB");
  CHECK(bytes_text(UINT64_MAX) == "16.0 EiB");
}

TEST_CASE("numbers are whole texts, finite and without the locale", "[core]") {
  CHECK(parse_number("0.5") == 0.5);
  CHECK(parse_number("-3") == -3);
  CHECK(parse_number("1e-4") == 1e-4);
  for (const char* bad : {"", "1.5x", " 1", "1,5", "nan", "inf", "1e999", "+1"}) {
    INFO(bad);
    CHECK_FALSE(parse_number(bad));
  }
}

TEST_CASE("times have milliseconds and the Z of UTC", "[core]") {
  const std::regex form(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z)");
  CHECK(std::regex_match(utc_now(), form));
  const double before = monotonic_seconds();
  CHECK(monotonic_seconds() >= before);
}
