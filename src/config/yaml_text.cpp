#include <algorithm>

#include "config/document.h"
#include "config/dump.h"
#include "config/environment.h"
#include "core/text.h"

namespace headprune {

namespace {

/// Text that every YAML reader takes for text without quotation marks.
bool is_plain(const std::string& text) {
  static const std::vector<std::string> kWords = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  if (!is_key(text.substr(0, 1)) && !text.starts_with("/")) return false;
  const auto allowed = [](char c) { return is_key(std::string("a") + c) || c == '.' || c == '/'; };
  if (!std::all_of(text.begin(), text.end(), allowed)) return false;
  std::string lower = text;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string number(double value) {
  std::string text = number_text(value);
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

/// Defaults of a section: as they are, and with every optional section made, so that the keys of one that is set can
/// be compared. Both null: nothing is known, all is written.
struct Defaults {
  const Json* plain = nullptr;
  const Json* filled = nullptr;

  bool known() const { return plain != nullptr; }
  Defaults at(const std::string& key) const {
    const auto find = [&](const Json* json) { return json && json->contains(key) ? &json->at(key) : nullptr; };
    return {find(plain), find(filled)};
  }
};

/// Makes the optional sections of a fresh struct; those inside of one that is made stay as they are by default.
void fill(FieldList fields) {
  for (Field& field : fields.all()) {
    Value value = field.value;
    const auto* optional = std::get_if<std::shared_ptr<OptionalView>>(&value);
    const std::shared_ptr<OptionalView> made = optional && !(*optional)->has() ? *optional : nullptr;
    if (optional) value = (*optional)->get();
    const auto* section = std::get_if<std::shared_ptr<SectionView>>(&value);
    if (section && !made) fill((*section)->fields());
    if (made && !section) made->reset();
  }
}

class YamlWriter {
 public:
  explicit YamlWriter(const YamlStyle& style) : style_(style) {}

  /// The lines of a section.
  std::vector<std::string> fields(FieldList list, const Defaults& base, const std::string& path) {
    std::vector<std::string> lines;
    for (Field& field : list.all()) {
      if (!field.shown) continue;
      const std::string full = join_path(path, field.name);
      const Defaults own = base.at(field.name);
      const bool is_default = base.known() && value_json(field.value) == (own.known() ? *own.plain : Json());
      if (is_default && !style_.defaults && !field.constraints.required && !has_extras(full)) continue;
      std::vector<std::string> added = entry(field.name, field.value, own, full);
      if (added.empty()) continue;
      added[0] += comment(field.help, full);
      if (path.empty() && added.size() > 1) lines.emplace_back("");
      lines.insert(lines.end(), added.begin(), added.end());
    }
    if (style_.extras)
      for (const auto& [key, value] : style_.extras->items())
        if (parent_path(key) == path)
          lines.push_back(key.substr(path.empty() ? 0 : path.size() + 1) + ": " + dump_json(value));
    return lines;
  }

 private:
  bool has_extras(const std::string& path) const {
    if (!style_.extras) return false;
    const Json& extras = *style_.extras;
    return std::any_of(extras.items().begin(), extras.items().end(),
                       [&](const auto& item) { return is_inside(item.key(), path); });
  }

  std::string comment(const std::string& help, const std::string& path) const {
    std::string text = style_.help ? help : "";
    if (style_.origins) text += (text.empty() ? "[" : " [") + origin_text(*style_.origins, path) + "]";
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.empty() ? "" : "  # " + text;
  }

  static std::vector<std::string> under(const std::string& head, const std::vector<std::string>& children) {
    if (children.empty()) return {head + " {}"};
    std::vector<std::string> lines = {head};
    for (const std::string& line : children) lines.push_back(line.empty() ? line : "  " + line);
    return lines;
  }

  /// `key: value`, or `key:` and indented lines.
  std::vector<std::string> entry(const std::string& key, Value& value, const Defaults& base, const std::string& path) {
    if (auto* optional = std::get_if<std::shared_ptr<OptionalView>>(&value)) {
      if (!(*optional)->has()) return {key + ": null"};
      Value inner = (*optional)->get();
      return entry(key, inner, base.known() ? base : Defaults{base.filled, base.filled}, path);
    }
    if (auto* section = std::get_if<std::shared_ptr<SectionView>>(&value))
      return under(key + ":", fields((*section)->fields(), base, path));
    if (auto* plugin = std::get_if<PluginBase*>(&value))
      return (*plugin)->type.empty() ? std::vector<std::string>()
                                     : under(key + ":", plugin_lines(**plugin, base, path));
    if (auto* list = std::get_if<std::shared_ptr<ListView>>(&value)) {
      const Json json = value_json(value);
      if (!std::any_of(json.begin(), json.end(), [](const Json& item) { return item.is_structured(); }))
        return {key + ": " + yaml_inline(json)};
      std::vector<std::string> lines = {key + ":"};
      for (size_t i = 0; i < (*list)->size(); ++i) {
        Value element = (*list)->at(i);
        for (const std::string& line : dashed(item(element, join_path(path, std::to_string(i)))))
          lines.push_back("  " + line);
      }
      return lines;
    }
    return {key + ": " + yaml_inline(value_json(value))};
  }

  static std::vector<std::string> dashed(std::vector<std::string> lines) {
    for (size_t i = 0; i < lines.size(); ++i) lines[i].insert(0, i == 0 ? "- " : "  ");
    return lines;
  }

  std::vector<std::string> item(Value& value, const std::string& path) {
    if (auto* section = std::get_if<std::shared_ptr<SectionView>>(&value)) {
      std::vector<std::string> lines = fields((*section)->fields(), {}, path);
      return lines.empty() ? std::vector<std::string>{"{}"} : lines;
    }
    if (auto* plugin = std::get_if<PluginBase*>(&value)) return plugin_lines(**plugin, {}, path);
    if (auto* listed = std::get_if<PluginItemBase*>(&value)) {
      PluginItemBase& chosen = **listed;
      const std::string inside = join_path(path, chosen.type);
      std::vector<std::string> lines;
      if (chosen.label != chosen.type) lines.push_back("label: " + yaml_inline(chosen.label));
      for (std::string& line : option_lines(chosen, inside)) lines.push_back(std::move(line));
      if (lines.empty()) return {chosen.type};
      return under(chosen.type + ":", lines);
    }
    return {yaml_inline(value_json(value))};
  }

  std::vector<std::string> plugin_lines(PluginBase& plugin, const Defaults& base, const std::string& path) {
    const bool same_type = base.known() && base.plain->contains("type") && base.plain->at("type") == plugin.type;
    std::vector<std::string> lines = {"type: " + yaml_inline(plugin.type) +
                                      comment(plugin.registry().summary(plugin.type), join_path(path, "type"))};
    std::vector<std::string> options =
        same_type ? fields(plugin.options().fields(), base, path) : option_lines(plugin, path);
    for (std::string& line : options) lines.push_back(std::move(line));
    return lines;
  }

  /// Options compared with the plug-in's own defaults.
  std::vector<std::string> option_lines(PluginBase& plugin, const std::string& path) {
    const std::unique_ptr<AnyOptions> fresh = plugin.registry().make_options(plugin.type);
    const Json plain = fresh->json();
    fill(fresh->fields());
    const Json filled = fresh->json();
    return fields(plugin.options().fields(), {&plain, &filled}, path);
  }

  const YamlStyle& style_;
};

}  // namespace

std::string yaml_inline(const Json& value) {
  if (value.is_number_float()) return number(value.get<double>());
  if (value.is_string()) {
    const std::string text = escape_references(value.get<std::string>());
    return is_plain(text) ? text : dump_json(text);
  }
  if (!value.is_structured()) return dump_json(value);
  std::vector<std::string> parts;
  for (const auto& [key, inner] : value.items())
    parts.push_back(value.is_object() ? key + ": " + yaml_inline(inner) : yaml_inline(inner));
  return value.is_object() ? "{" + join(parts, ", ") + "}" : "[" + join(parts, ", ") + "]";
}

std::string section_yaml(SectionView& section, SectionView& defaults, const YamlStyle& style) {
  const Json plain = section_json(defaults);
  fill(defaults.fields());
  const Json filled = section_json(defaults);
  std::string text = "schema_version: 1\n";
  for (const std::string& line : YamlWriter(style).fields(section.fields(), {&plain, &filled}, "")) text += line + "\n";
  return text;
}

}  // namespace headprune
