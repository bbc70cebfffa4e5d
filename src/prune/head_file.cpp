#include "prune/head_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"

namespace headprune {
namespace {

/// "L3" with letter 'L' is 3; nothing for anything else.
std::optional<int64_t> number_after(char letter, std::string_view text) {
  if (text.size() < 2 || text[0] != letter) return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

/// encoder.L3.H7
std::optional<HeadId> parse_head(const std::string& text) {
  const auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto layer = number_after('L', parts[1]), head = number_after('H', parts[2]);
  for (const Kind kind : {Kind::encoder, Kind::decoder, Kind::cross})
    if (layer && head && parts[0] == to_string(kind)) return HeadId{{kind, *layer}, *head};
  return std::nullopt;
}

/// Reads one file; every message begins with its name.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const Blocks& blocks) : path_(path.string()) {
    known_ = HeadSet(all_heads(blocks));
  }

  HeadFile read() const {
    const Json json = parse();
    if (!json.is_object() || json.size() != 1 || !(json.contains("order") || json.contains("masks")))
      refuse("expected one object with the key \"order\" or the key \"masks\", and no other");
    HeadFile file;
    file.has_masks = json.contains("masks");
    const char* key = file.has_masks ? "masks" : "order";
    const Json& list = json[key];
    if (!list.is_array() || list.empty()) refuse(fmt::format("\"{}\" is not a list with entries", key));
    HeadSet seen;
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string place = fmt::format("{}[{}]", key, i);
      if (file.has_masks) {
        file.masks.push_back(read_mask(list[i], place));
      } else {
        file.order.push_back(read_head(list[i], place));
        if (seen.contains(file.order.back()))
          refuse(fmt::format("{}: {} is listed twice", place, to_string(file.order.back())));
        seen.insert(file.order.back());
      }
    }
    return file;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const { fail(ExitCode::usage, "{}: {}", path_, problem); }

  // The helpers of core call malformed content a failed run; here nothing has started yet.
  Json parse() const {
    const std::string text = read_file(path_);
    try {
      return parse_json(text, path_);
    } catch (const Error& error) {
      throw Error(ExitCode::usage, error.what());
    }
  }

  HeadId read_head(const Json& entry, const std::string& place) const {
    const auto head = entry.is_string() ? parse_head(entry.get<std::string>()) : std::nullopt;
    if (!head) refuse(fmt::format("{}: {} is not a head such as \"encoder.L0.H1\"", place, entry.dump()));
    require_known(*head, place);
    return *head;
  }

  HeadSet read_mask(const Json& entry, const std::string& place) const {
    HeadSet mask;
    try {
      mask = HeadSet::from_json(entry);
    } catch (const Error& error) {
      refuse(fmt::format("{}: {}", place, error.what()));
    }
    for (const HeadId& head : mask.heads()) require_known(head, place);
    return mask;
  }

  void require_known(const HeadId& head, const std::string& place) const {
    if (!known_.contains(head)) refuse(fmt::format("{}: the model has no head {}", place, to_string(head)));
  }

  std::string path_;
  HeadSet known_;
};

}  // namespace

HeadFile read_head_file(const std::filesystem::path& path, const Blocks& blocks) { return Reader(path, blocks).read(); }

}  // namespace headprune
