// TensorBoard event files, written by hand (formats.md section 10): records with CRC-32C around protobuf messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headprune {

/// When and where on the axis a value stands.
struct EventPlace {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
};

/// Colours of a picture, row by row, 0xRRGGBB.
struct Pixels {
  int64_t width = 0, height = 0;
  std::vector<uint32_t> colours;
};

/// PNG, 8-bit RGB, not compressed: heat maps are small.
std::string png_bytes(const Pixels& pixels);

/// The bytes of one event file. It begins with the version and SessionLog START at step 0, without which TensorBoard's
/// reader would purge what a later file continues.
class EventFile {
 public:
  explicit EventFile(double wall_time);

  void scalar(const std::string& tag, const EventPlace& place, double value);
  /// A histogram of 30 equal buckets; values that are not finite are left out.
  void histogram(const std::string& tag, const EventPlace& place, const std::vector<double>& values);
  void image(const std::string& tag, const EventPlace& place, const Pixels& pixels);
  /// Markdown.
  void text(const std::string& tag, const EventPlace& place, const std::string& markdown);

  const std::string& bytes() const { return bytes_; }

 private:
  void value(const std::string& tag, const EventPlace& place, const std::string& metadata, const std::string& content);
  void record(const std::string& event);
  std::string bytes_;
};

}  // namespace headprune
