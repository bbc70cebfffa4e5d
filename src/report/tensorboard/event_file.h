// TensorBoard event files, written by hand (docs/formats.md section 10): records with CRC-32C around protobuf messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
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

/// A session of the HParams tab.
struct SessionFacts {
  double started = 0, ended = 0;  // seconds since 1970
  bool succeeded = false;
  std::string group;
  std::map<std::string, std::string> parameters;  // numbers and booleans are recognised by their text
  std::vector<std::string> metrics;               // tags of scalars
};

/// A chart of scalars that have a lower and an upper one beside them: TAG, TAG_lo and TAG_hi.
struct BandChart {
  std::string category, title;
  std::vector<std::string> tags;
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
  /// A process goes on at `place.step`: readers drop what older files or lines say from there on.
  void restart(const EventPlace& place);
  /// Markdown.
  void text(const std::string& tag, const EventPlace& place, const std::string& markdown);

  /// What was chosen and which tags came out of it, for the HParams tab. `group`: runs that differ in their seeds only.
  void hparams(const SessionFacts& session);
  /// Charts of the Custom Scalars tab: each curve with its band.
  void layout(const std::vector<BandChart>& charts);

  const std::string& bytes() const { return bytes_; }
  /// The bytes since the last take().
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void value(const std::string& tag, const EventPlace& place, const std::string& metadata, const std::string& content);
  void record(const std::string& event);
  void tensor(const std::string& tag, double wall_time, const std::string& plugin, const std::string& content);
  std::string bytes_;
};

}  // namespace headprune
