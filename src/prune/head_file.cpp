#include "prune/head_file.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/open_file.h"
#include "prune/head_names.h"

namespace headprune {
namespace {

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
        NamedMask mask = read_mask(list[i], place, i);
        for (size_t before = 0; before < file.masks.size(); ++before)
          if (file.masks[before].name == mask.name)
            refuse(fmt::format("{}: masks[{}] is called \"{}\" too; give each its own name", place, before, mask.name));
        file.masks.push_back(std::move(mask));
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
    const std::string text = read_file_up_to(path_, kMaxJsonFile);
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

  NamedMask read_mask(const Json& entry, const std::string& place, size_t index) const {
    NamedMask mask{.name = fmt::format("mask_{}", index), .removed = {}};
    const bool named = entry.is_object() && (entry.contains("name") || entry.contains("removed"));
    if (named) {
      if (entry.size() != 2 || !entry.contains("name") || !entry.contains("removed"))
        refuse(fmt::format("{}: expected {{\"name\": ..., \"removed\": ...}} with both keys and no other", place));
      if (!entry["name"].is_string() || !valid_name(entry["name"].get<std::string>()))
        refuse(fmt::format("{}: {} is no name: expected [A-Za-z0-9_.-]{{1,64}}", place, entry["name"].dump()));
      mask.name = entry["name"].get<std::string>();
    }
    try {
      mask.removed = HeadSet::from_json(named ? entry["removed"] : entry);
    } catch (const Error& error) {
      refuse(fmt::format("{}: {}", place, error.what()));
    }
    for (const HeadId& head : mask.removed.heads()) require_known(head, place);
    return mask;
  }

  static bool valid_name(const std::string& name) {
    return !name.empty() && name.size() <= 64 && name != "control" && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
             c == '-';
    });
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
