#include "config/decode.h"

#include <algorithm>

#include "config/one_or_list.h"
#include "config/scalars.h"
#include "core/text.h"

namespace headprune {

namespace fs = std::filesystem;

fs::path resolve_path(const std::string& text, const fs::path& folder) {
  if (text.empty()) return {};
  fs::path path = (fs::absolute(folder) / text).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // a trailing slash
  return path;
}

namespace {

/// Path of the first section below `section` that has the key `name`; "" when there is none.
std::string section_with(FieldList fields, const std::string& name, const std::string& path) {
  for (Field& field : fields.all()) {
    const std::string full = join_path(path, field.name);
    Value value = field.value;
    std::shared_ptr<OptionalView> made;
    if (auto* optional = std::get_if<std::shared_ptr<OptionalView>>(&value)) {
      if (!(*optional)->has()) made = *optional;
      value = (*optional)->get();
    }
    std::string found;
    const auto search = [&](FieldList inner) {
      found = inner.find(name) ? full : section_with(std::move(inner), name, full);
    };
    if (auto* section = std::get_if<std::shared_ptr<SectionView>>(&value)) {
      search((*section)->fields());
    } else if (auto* plugin = std::get_if<PluginBase*>(&value)) {
      if ((*plugin)->registry().has((*plugin)->type)) search((*plugin)->options().fields());
    }
    if (made) made->reset();
    if (!found.empty()) return found;
  }
  return "";
}

class LayerDecoder {
 public:
  LayerDecoder(const fs::path& folder, DecodeState& state) : folder_(folder), state_(state) {}

  /// `own`: the key beside the fields that the caller has read (type, label), or "".
  bool fields(FieldList list, const ConfigNode& node, const std::string& path, const std::string& own) {
    bool good = true;
    for (size_t i = 0; i < node.keys.size(); ++i) {
      const std::string& key = node.keys[i];
      const std::string full = join_path(path, key);
      if (key.starts_with("x-")) {
        state_.extras[full] = raw_json(node.items[i]);
      } else if (Field* known = list.find(key)) {
        good &= field(*known, node.items[i], full);
      } else if (key != own) {
        good = false;
        std::vector<std::string> words = list.names();
        if (!own.empty()) words.insert(words.begin(), own);
        const std::string* retired = list.retired(key);
        state_.problems.add(node.key_places[i], full, retired ? *retired : unknown_key(key, words, path));
      }
    }
    return good;
  }

 private:
  bool fail(const Place& at, const std::string& path, const std::string& message) {
    state_.problems.add(at, path, message);
    return false;
  }
  /// For reads that return "" or what is wrong.
  bool report(const ConfigNode& node, const std::string& path, const std::string& why) {
    return why.empty() || fail(node.at, path, why);
  }
  void mark(const std::string& path, const ConfigNode& node) { state_.origins[path] = node.at; }
  /// What stood inside `path` is replaced.
  void forget(const std::string& path) {
    std::erase_if(state_.origins, [&](const auto& entry) { return is_inside(entry.first, path); });
    Json kept = Json::object();
    for (const auto& [key, value] : state_.extras.items())
      if (!is_inside(key, path)) kept[key] = value;
    state_.extras = kept;
  }

  std::string unknown_key(const std::string& key, const std::vector<std::string>& words, const std::string& path) {
    if (path.empty() && key == "defaults")
      return "unknown key; there is no 'defaults' list, write 'extends: [file.yaml]'";
    const std::string known = suggestion(key, words, "known keys: ");
    if (known.starts_with("; did you mean")) return "unknown key" + known;
    FieldList root = state_.root.fields();
    // Beside a `type` it is more likely a key of another type than of another section.
    const bool typed = std::find(words.begin(), words.end(), "type") != words.end();
    const std::string section = typed || root.find(key) ? "" : section_with(root, key, "");
    if (!section.empty() && section != path) return "unknown key; it belongs under '" + section + "'";
    if (!path.empty() && root.find(key)) return "unknown key; it belongs at the top level";
    return words.empty() ? "unknown key; there are no keys here" : "unknown key" + known;
  }

  bool field(Field& field, const ConfigNode& node, const std::string& path) {
    if (!value(field.value, node, path, field.constraints)) return false;
    bool good = true;
    for (const CustomCheck& check : field.checks) {
      const auto* list = std::get_if<std::shared_ptr<ListView>>(&field.value);
      const size_t count = !check.per_element ? 1 : list ? (*list)->size() : 1;
      for (size_t i = 0; i < count; ++i) {
        const bool entry = check.per_element && list && node.kind == ConfigNode::Kind::list;
        const std::string full = check.per_element && list ? join_path(path, std::to_string(i)) : path;
        good &= report(entry ? node.items[i] : node, full, check.run(i));
      }
    }
    return good;
  }

  bool value(Value& target, const ConfigNode& node, const std::string& path, const Constraints& limits) {
    return std::visit([&](auto& view) { return read(view, node, path, limits); }, target);
  }

  bool read(int64_t* out, const ConfigNode& node, const std::string& path, const Constraints& limits) {
    return number(out, node, path, limits, read_integer);
  }
  bool read(double* out, const ConfigNode& node, const std::string& path, const Constraints& limits) {
    return number(out, node, path, limits, read_number);
  }
  template <class T>
  bool number(T* out, const ConfigNode& node, const std::string& path, const Constraints& limits,
              std::string (*resolve)(const ConfigNode&, T&)) {
    T read_value{};
    std::string why = resolve(node, read_value);
    if (why.empty()) why = check_range(static_cast<double>(read_value), node.text, limits);
    if (!report(node, path, why)) return false;
    *out = read_value;
    mark(path, node);
    return true;
  }
  bool read(bool* out, const ConfigNode& node, const std::string& path, const Constraints&) {
    if (!report(node, path, read_bool(node, *out))) return false;
    mark(path, node);
    return true;
  }
  /// Text with its variables replaced.
  bool text(const ConfigNode& node, const std::string& path, const std::string& expected, std::string& out) {
    std::string word;
    std::string why = read_text(node, expected, word);
    if (why.empty() && !node.expanded) why = state_.environment.expand(word);
    if (!report(node, path, why)) return false;
    out = word;
    mark(path, node);
    return true;
  }
  bool read(std::string* out, const ConfigNode& node, const std::string& path, const Constraints&) {
    return text(node, path, "text", *out);
  }
  bool read(fs::path* out, const ConfigNode& node, const std::string& path, const Constraints&) {
    std::string word;
    if (!text(node, path, "a path", word)) return false;
    if (word.starts_with("~"))
      return fail(node.at, path, fmt::format("'~' is not replaced in paths; write ${{env:HOME}}{}", word.substr(1)));
    const bool from_variable = !node.expanded && state_.environment.began_with_variable();
    *out = resolve_path(word, from_variable ? fs::current_path() : folder_);
    return true;
  }
  bool read(std::shared_ptr<ChoiceView>& choice, const ConfigNode& node, const std::string& path, const Constraints&) {
    const std::vector<std::string> names = choice->names();
    std::string word;
    if (!report(node, path, read_text(node, "one of " + join(names, ", "), word))) return false;
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end() && node.from_override() && word.find(',') != std::string::npos)
      return fail(node.at, path, fmt::format("'{}' is not a choice; one run takes one of {}", word, join(names, ", ")));
    if (found == names.end())
      return fail(node.at, path, fmt::format("'{}' is not a choice{}", word, suggestion(word, names, "choices: ")));
    choice->set(static_cast<size_t>(found - names.begin()));
    mark(path, node);
    return true;
  }
  bool read(std::shared_ptr<OptionalView>& optional, const ConfigNode& node, const std::string& path,
            const Constraints& limits) {
    if (node.kind == ConfigNode::Kind::null) {
      optional->reset();
      forget(path);
      mark(path, node);
      return true;
    }
    const bool was_empty = !optional->has();
    Value inner = optional->get();
    if (value(inner, node, path, limits)) return true;
    if (was_empty && node.kind == ConfigNode::Kind::scalar) optional->reset();
    return false;
  }

  bool read(std::shared_ptr<ListView>& list, const ConfigNode& node, const std::string& path,
            const Constraints& limits) {
    if (node.kind == ConfigNode::Kind::step) return entry(*list, node, path, limits);
    if (node.kind == ConfigNode::Kind::null) return fail(node.at, path, "needs a value; an empty list is []");
    if (node.kind != ConfigNode::Kind::list && dynamic_cast<const OneOrListView*>(list.get())) {
      list->clear();
      forget(path);
      mark(path, node);
      Value only = list->append();
      return value(only, node, join_path(path, "0"), limits);
    }
    if (node.kind != ConfigNode::Kind::list)
      return fail(node.at, path,
                  node.from_override() && node.kind == ConfigNode::Kind::scalar
                      ? fmt::format("expected a list, got {}; write {}=[{}]", describe(node), path, node.text)
                      : fmt::format("expected a list, got {}", describe(node)));
    list->clear();
    forget(path);
    mark(path, node);
    bool good = true;
    for (size_t i = 0; i < node.items.size(); ++i) {
      Value added = list->append();
      good &= value(added, node.items[i], join_path(path, std::to_string(i)), limits);
    }
    return good;
  }
  /// score.methods.0...=: an entry that exists.
  bool entry(ListView& list, const ConfigNode& step, const std::string& path, const Constraints& limits) {
    const std::string& word = step.keys[0];
    const std::string full = join_path(path, word);
    if (is_key(word) && list.size() == 1 && dynamic_cast<const OneOrListView*>(&list)) {
      Value only = list.at(0);
      return value(only, step, join_path(path, "0"), limits);
    }
    if (is_key(word))
      return fail(step.key_places[0], full, fmt::format("entries of lists are chosen by number, from {}.0 on", path));
    const size_t index = std::stoul(word);
    if (index >= list.size())
      return fail(step.key_places[0], full, fmt::format("there is no entry {}; the list has {}", index, list.size()));
    Value existing = list.at(index);
    if (step.items[0].kind != ConfigNode::Kind::step) forget(full);
    return value(existing, step.items[0], full, limits);
  }

  bool read(std::shared_ptr<SectionView>& section, const ConfigNode& node, const std::string& path,
            const Constraints&) {
    if (!is_section(node, path, "a section")) return false;
    return fields(section->fields(), node, path, "");
  }
  bool is_section(const ConfigNode& node, const std::string& path, const std::string& expected) {
    if (node.kind == ConfigNode::Kind::null) return fail(node.at, path, "needs a value; it is " + expected);
    if (!node.is_map()) return fail(node.at, path, fmt::format("expected {}, got {}", expected, describe(node)));
    if (node.kind == ConfigNode::Kind::map || !state_.origins.contains(path)) mark(path, node);
    return true;
  }

  bool read(PluginBase* plugin, const ConfigNode& node, const std::string& path, const Constraints&) {
    if (!read_type(*plugin, node, path)) {
      state_.problems.mark_undecided(path);
      return false;
    }
    return fields(plugin->options().fields(), node, path, "type");
  }
  bool read_type(PluginBase& plugin, const ConfigNode& node, const std::string& path) {
    const std::vector<std::string> names = plugin.registry().names();
    if (!is_section(node, path, "a section with the key 'type' (" + join(names, ", ") + ")")) return false;
    if (const auto type = node.find("type")) {
      std::string word;
      const ConfigNode& item = node.items[*type];
      const std::string full = join_path(path, "type");
      if (!report(item, full, read_text(item, "one of " + join(names, ", "), word))) return false;
      if (!choose(plugin, word, item, full)) return false;
      mark(full, item);
    }
    if (plugin.type.empty()) return fail(node.at, path, "the key 'type' is missing; known types: " + join(names, ", "));
    return plugin.registry().has(plugin.type) || fail(node.at, path, "unknown type '" + plugin.type + "'");
  }
  /// Another type starts from its own defaults.
  bool choose(PluginBase& plugin, const std::string& word, const ConfigNode& node, const std::string& path) {
    const RegistryBase& registry = plugin.registry();
    if (!registry.has(word))
      return fail(node.at, path,
                  fmt::format("unknown name '{}'{}", word, suggestion(word, registry.names(), "known: ")));
    if (plugin.type == word) return true;
    const std::string above = parent_path(path);
    const auto at = state_.origins.find(above);
    const std::optional<Place> place = at == state_.origins.end() ? std::nullopt : std::optional(at->second);
    forget(above);
    if (place) state_.origins[above] = *place;
    plugin.set_type(word);
    return true;
  }

  bool read(PluginItemBase* item, const ConfigNode& node, const std::string& path, const Constraints&) {
    if (node.kind == ConfigNode::Kind::step) return item_option(*item, node, path);
    const ConfigNode* options = nullptr;
    if (!read_name(*item, node, path, options)) {
      state_.problems.mark_undecided(path);
      return false;
    }
    return !options || options->kind == ConfigNode::Kind::null ||
           item_fields(*item, *options, join_path(path, item->type));
  }
  /// `options`: those that stand under the name, if any.
  bool read_name(PluginItemBase& item, const ConfigNode& node, const std::string& path, const ConfigNode*& options) {
    std::string word = node.text;
    Place at = node.at;
    if (node.kind == ConfigNode::Kind::null) return fail(node.at, path, "needs a value");
    if (node.kind == ConfigNode::Kind::list)
      return fail(node.at, path, "expected a name, or a map of one key from the name to its options; got a list");
    if (node.kind == ConfigNode::Kind::map) {
      if (node.keys.size() != 1) return fail(node.at, path, item_hint(item, node));
      word = node.keys[0];
      at = node.key_places[0];
      options = &node.items[0];
    }
    const std::vector<std::string> names = item.registry().names();
    if (std::find(names.begin(), names.end(), word) == names.end())
      return fail(at, path, fmt::format("unknown name '{}'{}", word, suggestion(word, names, "known: ")));
    item.set_type(word);
    item.label = word;
    state_.origins[path] = at;
    return true;
  }
  static std::string item_hint(const PluginItemBase& item, const ConfigNode& node) {
    if (const auto type = node.find("type"); type && node.items[*type].kind == ConfigNode::Kind::scalar)
      return fmt::format("in a list the name is the key; write {{{}: {{...}}}}", node.items[*type].text);
    if (!node.keys.empty() && item.registry().has(node.keys[0]))
      return fmt::format("'{}' has keys beside it; indent its options below it", node.keys[0]);
    return "expected a name, or a map of one key from the name to its options";
  }
  /// score.methods.0.random.draws=5
  bool item_option(PluginItemBase& item, const ConfigNode& step, const std::string& path) {
    const std::string& word = step.keys[0];
    if (word != item.type)
      return fail(step.key_places[0], join_path(path, word),
                  fmt::format("this entry is '{}'; write {}.{}.KEY=VALUE", item.type, path, item.type));
    return item_fields(item, step.items[0], join_path(path, word));
  }
  bool item_fields(PluginItemBase& item, const ConfigNode& node, const std::string& path) {
    if (!is_section(node, path, "a section with the options of '" + item.type + "'")) return false;
    bool good = true;
    if (const auto at = node.find("label")) {
      std::string label;
      const std::string full = join_path(path, "label");
      good = text(node.items[*at], full, "text", label);
      if (good &&
          (label.empty() || label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos))
        good =
            fail(node.items[*at].at, full, fmt::format("a label has the letters a-z, 0-9 and _ only, got '{}'", label));
      if (good) item.label = label;
    }
    return fields(item.options().fields(), node, path, "label") && good;
  }

  const fs::path& folder_;
  DecodeState& state_;
};

}  // namespace

void decode_layer(const ConfigNode& layer, const fs::path& folder, DecodeState& state) {
  LayerDecoder(folder, state).fields(state.root.fields(), layer, "", "");
}

}  // namespace headprune
