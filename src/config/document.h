// Configuration text as a tree with places: what the decoder reads. YAML files and overrides both become one.
#pragma once

#include <optional>

#include "config/problems.h"
#include "core/json.h"

namespace headprune {

struct ConfigNode {
  enum class Kind {
    null,    // null, ~ or nothing
    scalar,  // text
    list,    // items
    map,     // keys and items
    step,    // one part of an override's key path: one key (or the index of a list entry) and what follows
  };
  Kind kind = Kind::null;
  std::string text;
  bool quoted = false;    // of a scalar: quoted or block text
  bool expanded = false;  // of a scalar: ${env:} is already replaced
  Place at;               // of a scalar itself; of everything else its key, where it has one
  std::vector<std::string> keys;
  std::vector<Place> key_places;
  std::vector<ConfigNode> items;

  bool is_map() const { return kind == Kind::map || kind == Kind::step; }
  bool from_override() const { return at.line == 0; }
  /// Index of a key, or nothing.
  std::optional<size_t> find(const std::string& key) const;
};

/// "a list", "a section", "'abc'": what stands there, for messages.
std::string describe(const ConfigNode& node);

/// The tree as JSON for the user's own keys: plain true, false, null and numbers are those, the rest is text.
Json raw_json(const ConfigNode& node);

/// Whether `word` can be a key: [A-Za-z_][A-Za-z0-9_-]*.
bool is_key(const std::string& word);

/// Limits of docs/formats.md section 3.
inline constexpr size_t kMaxConfigBytes = 1 << 20, kMaxConfigDepth = 64, kMaxConfigNodes = 100000;

/// Reads one YAML document of our dialect: UTF-8, one map, no duplicate keys, tags, merge keys or tabs as indentation.
/// Problems go to `problems`; nothing is returned where the text cannot be read at all.
std::optional<ConfigNode> parse_config(const std::string& text, const std::shared_ptr<const Source>& source,
                                       Problems& problems);

}  // namespace headprune
