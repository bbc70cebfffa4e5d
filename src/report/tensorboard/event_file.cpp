#include "report/tensorboard/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/hash.h"
#include "core/text.h"

namespace headprune {
namespace {

static_assert(std::endian::native == std::endian::little, "event files are little-endian");

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// Protobuf fields; zero varints are omitted, as protobuf does.
std::string key(uint64_t field, uint64_t wire) { return varint(field << 3 | wire); }
std::string integer(uint64_t field, uint64_t value) { return value == 0 ? "" : key(field, 0) + varint(value); }
std::string fixed64(uint64_t field, double value) { return key(field, 1) + little_endian(value); }
std::string fixed32(uint64_t field, float value) { return key(field, 5) + little_endian(value); }
std::string bytes_field(uint64_t field, const std::string& content) {
  return key(field, 2) + varint(content.size()) + content;
}

std::string packed(uint64_t field, const std::vector<double>& values) {
  std::string content;
  for (const double value : values) content += little_endian(value);
  return bytes_field(field, content);
}

uint32_t masked_crc(const std::string& bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::string event_head(const EventPlace& place) {
  return fixed64(1, place.wall_time) + integer(2, static_cast<uint64_t>(place.step));
}

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// The CRC-32 of PNG (polynomial 0xEDB88320, reflected), not that of our own files.
uint32_t png_crc(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

std::string png_chunk(const std::string& type, const std::string& content) {
  return big_endian(static_cast<uint32_t>(content.size())) + type + content + big_endian(png_crc(type + content));
}

/// zlib's stored blocks.
std::string stored(const std::string& bytes) {
  std::string out = {'\x78', '\x01'};
  constexpr size_t kMost = 65535;
  for (size_t at = 0; at < bytes.size() || at == 0; at += kMost) {
    const auto size = static_cast<uint16_t>(std::min(kMost, bytes.size() - at));
    out += at + size >= bytes.size() ? '\1' : '\0';
    out += little_endian(size) + little_endian(static_cast<uint16_t>(~size)) + bytes.substr(at, size);
  }
  uint32_t low = 1, high = 0;  // Adler-32
  for (const char c : bytes) {
    low = (low + static_cast<unsigned char>(c)) % 65521;
    high = (high + low) % 65521;
  }
  return out + big_endian(high << 16 | low);
}

}  // namespace

std::string png_bytes(const Pixels& pixels) {
  std::string rows;
  for (int64_t y = 0; y < pixels.height; ++y) {
    rows += '\0';  // no filter
    for (int64_t x = 0; x < pixels.width; ++x) {
      const uint32_t colour = pixels.colours[static_cast<size_t>(y * pixels.width + x)];
      for (const int shift : {16, 8, 0}) rows += static_cast<char>(colour >> shift & 0xff);
    }
  }
  const std::string header = big_endian(static_cast<uint32_t>(pixels.width)) +
                             big_endian(static_cast<uint32_t>(pixels.height)) + std::string("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", stored(rows)) + png_chunk("IEND", "");
}

EventFile::EventFile(double wall_time) {
  record(event_head({wall_time, 0}) + bytes_field(3, "brain.Event:2"));
  record(event_head({wall_time, 0}) + bytes_field(7, integer(1, 1)));
}

void EventFile::restart(const EventPlace& place) { record(event_head(place) + bytes_field(7, integer(1, 1))); }

void EventFile::record(const std::string& event) {
  const std::string length = little_endian(static_cast<uint64_t>(event.size()));
  bytes_ += length + little_endian(masked_crc(length)) + event + little_endian(masked_crc(event));
}

void EventFile::value(const std::string& tag, const EventPlace& place, const std::string& metadata,
                      const std::string& content) {
  record(event_head(place) + bytes_field(5, bytes_field(1, bytes_field(1, tag) + metadata + content)));
}

void EventFile::scalar(const std::string& tag, const EventPlace& place, double number) {
  // A member of a oneof: written even when zero.
  value(tag, place, "", fixed32(2, static_cast<float>(number)));
}

void EventFile::histogram(const std::string& tag, const EventPlace& place, const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double one) { return std::isfinite(one); });
  if (finite.empty()) return;
  constexpr size_t kBuckets = 30;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double width = *high > *low ? (*high - *low) / kBuckets : 1;
  std::vector<double> limits, counts(kBuckets, 0.0);
  for (size_t i = 0; i < kBuckets; ++i) limits.push_back(*low + width * static_cast<double>(i + 1));
  double sum = 0, squares = 0;
  for (const double one : finite) {
    ++counts[std::min(static_cast<size_t>((one - *low) / width), kBuckets - 1)];
    sum += one;
    squares += one * one;
  }
  const std::string content = fixed64(1, *low) + fixed64(2, *high) + fixed64(3, static_cast<double>(finite.size())) +
                              fixed64(4, sum) + fixed64(5, squares) + packed(6, limits) + packed(7, counts);
  value(tag, place, "", bytes_field(5, content));
}

void EventFile::image(const std::string& tag, const EventPlace& place, const Pixels& pixels) {
  const std::string content = integer(1, static_cast<uint64_t>(pixels.height)) +
                              integer(2, static_cast<uint64_t>(pixels.width)) + integer(3, 3) +
                              bytes_field(4, png_bytes(pixels));
  value(tag, place, "", bytes_field(4, content));
}

namespace {

constexpr uint64_t kFloat = 1, kString = 7, kTensorClass = 2;

std::string plugin_metadata(const std::string& plugin, const std::string& content) {
  const std::string data = bytes_field(1, plugin) + (content.empty() ? "" : bytes_field(2, content));
  return bytes_field(9, bytes_field(1, data) + integer(4, kTensorClass));
}

std::string string_tensor(const std::string& text, const std::string& shape) {
  return bytes_field(8, integer(1, kString) + bytes_field(2, shape) + bytes_field(8, text));
}

/// A parameter as google.protobuf.Value, and its type as HParams counts them.
struct Parameter {
  std::string value;
  uint64_t type = 0;
};

Parameter parameter(const std::string& text) {
  constexpr uint64_t kText = 1, kBool = 2, kNumber = 3;
  if (text == "true" || text == "false") return {key(4, 0) + varint(text == "true"), kBool};
  if (const std::optional<double> number = parse_number(text)) return {fixed64(2, *number), kNumber};
  return {bytes_field(3, text), kText};
}

}  // namespace

void EventFile::text(const std::string& tag, const EventPlace& place, const std::string& markdown) {
  const std::string one = bytes_field(2, integer(1, 1));
  value(tag, place, plugin_metadata("text", ""), string_tensor(markdown, one));
}

void EventFile::tensor(const std::string& tag, double wall_time, const std::string& plugin,
                       const std::string& content) {
  // The message lies in the metadata; the tensor is an empty one.
  const std::string empty = integer(1, kFloat) + bytes_field(2, bytes_field(2, ""));
  value(tag, {wall_time, 0}, plugin_metadata(plugin, content), bytes_field(8, empty));
}

void EventFile::hparams(const SessionFacts& session) {
  constexpr uint64_t kSuccess = 1, kFailure = 2;
  std::string infos, metrics, values;
  for (const auto& [name, text] : session.parameters) {
    const Parameter one = parameter(text);
    infos += bytes_field(4, bytes_field(1, name) + integer(4, one.type));
    values += bytes_field(1, bytes_field(1, name) + bytes_field(2, one.value));
  }
  for (const std::string& tag : session.metrics) metrics += bytes_field(5, bytes_field(1, bytes_field(2, tag)));
  tensor("_hparams_/experiment", session.started, "hparams", bytes_field(2, infos + metrics));
  tensor("_hparams_/session_start_info", session.started, "hparams",
         bytes_field(3, values + bytes_field(4, session.group) + fixed64(5, session.started)));
  tensor("_hparams_/session_end_info", session.ended, "hparams",
         bytes_field(4, integer(1, session.succeeded ? kSuccess : kFailure) + fixed64(2, session.ended)));
}

void EventFile::layout(const std::vector<BandChart>& charts) {
  std::vector<std::pair<std::string, std::string>> categories;  // title and charts, in the order of appearance
  for (const BandChart& chart : charts) {
    std::string series;
    for (const std::string& tag : chart.tags)
      series += bytes_field(1, bytes_field(1, tag) + bytes_field(2, tag + "_lo") + bytes_field(3, tag + "_hi"));
    if (categories.empty() || categories.back().first != chart.category) categories.push_back({chart.category, ""});
    categories.back().second += bytes_field(2, bytes_field(1, chart.title) + bytes_field(3, series));
  }
  std::string layout;
  for (const auto& [title, content] : categories) layout += bytes_field(2, bytes_field(1, title) + content);
  value("custom_scalars__config__", {0, 0}, plugin_metadata("custom_scalars", ""), string_tensor(layout, ""));
}

}  // namespace headprune
