// Views of a configuration: JSON, YAML that can be run again, JSON Schema, the reference of a plug-in, differences.
#pragma once

#include "config/fields.h"
#include "config/problems.h"

namespace headprune {

/// Writes a path; for the experiment id, the hash of what it names.
using PathRenderer = std::function<std::string(const std::filesystem::path&)>;

/// What config_yaml writes beside the values.
struct YamlStyle {
  bool help = true;                  // each key's help as a comment
  bool defaults = true;              // also keys that have their default value
  const Origins* origins = nullptr;  // each key's origin as a comment
  const Json* extras = nullptr;      // the user's x-* keys (LoadRecord::extras), written back at their places
};

/// The fields in declared order; optionals without a value are left out.
Json section_json(SectionView& section, const PathRenderer& paths = {});
/// null for an optional without a value and for a plug-in that is not chosen.
Json value_json(Value& value, const PathRenderer& paths = {});
/// `defaults` must be a fresh struct of the same type; it serves as scratch space.
std::string section_yaml(SectionView& section, SectionView& defaults, const YamlStyle& style);
/// `section` must be a fresh struct; it serves as scratch space.
Json section_schema(SectionView& section);

/// The effective configuration as JSON. A plug-in in a section has its name under `type`; one in a list is a map of one
/// key, with `label` among its options where it is not the name.
template <class Config>
Json config_json(const Config& config, const PathRenderer& paths = {}) {
  Config copy = config;  // views need a mutable object
  detail::BoundSection<Config> section(copy);
  return section_json(section, paths);
}

/// The effective configuration as YAML that load_config reads back to the same value.
template <class Config>
std::string config_yaml(const Config& config, const YamlStyle& style = {}) {
  Config copy = config, untouched;
  detail::BoundSection<Config> section(copy), defaults(untouched);
  return section_yaml(section, defaults, style);
}

/// JSON Schema (draft-07) of a configuration file, for editors.
template <class Config>
Json config_schema() {
  Config untouched;
  detail::BoundSection<Config> section(untouched);
  return section_schema(section);
}

/// One option, for people. `name` has dots for nested sections; `default_value` is YAML, empty for a required option.
struct OptionHelp {
  std::string name, type, default_value, help;
};
std::vector<OptionHelp> option_help(const AnyOptions& options);

/// A value on one line of YAML: text quoted where needed, ${ escaped, doubles with a point.
std::string yaml_inline(const Json& value);

}  // namespace headprune
