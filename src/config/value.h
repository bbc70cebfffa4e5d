// What a configuration field can hold, seen without its C++ type. fields.h binds struct members to these views; the
// decoder, the dumps, the schema and the reference are ordinary functions over them (one list of fields per struct).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/json.h"

namespace headprune {

class ChoiceView;
class OptionalView;
class ListView;
class SectionView;
class PluginBase;
class PluginItemBase;
class FieldList;

/// A view of one member: a pointer to it, or an adaptor that knows its type. Valid while the member lives unmoved.
using Value = std::variant<int64_t*, double*, bool*, std::string*, std::filesystem::path*, std::shared_ptr<ChoiceView>,
                           std::shared_ptr<OptionalView>, std::shared_ptr<ListView>, std::shared_ptr<SectionView>,
                           PluginBase*, PluginItemBase*>;

/// An enum with a table of names.
class ChoiceView {
 public:
  virtual ~ChoiceView() = default;
  virtual std::vector<std::string> names() const = 0;
  virtual std::string get() const = 0;
  /// `index` into names().
  virtual void set(size_t index) = 0;
};

class OptionalView {
 public:
  virtual ~OptionalView() = default;
  virtual bool has() const = 0;
  virtual void reset() = 0;
  /// Makes a default value where there is none; a view of the value.
  virtual Value get() = 0;
};

class ListView {
 public:
  virtual ~ListView() = default;
  virtual size_t size() const = 0;
  virtual void clear() = 0;
  /// A new default entry at the end. Views of other entries are invalid afterwards.
  virtual Value append() = 0;
  virtual Value at(size_t index) = 0;
};

/// A rule broken by several keys together: path relative to the struct ("" = the struct itself) and message.
using CrossProblems = std::vector<std::pair<std::string, std::string>>;

class SectionView {
 public:
  virtual ~SectionView() = default;
  virtual FieldList fields() = 0;
  virtual CrossProblems problems() const = 0;
};

/// What must exist where a path points.
enum class PathRule { none, exists, file, folder };

/// The built-in checks of a field, merged.
struct Constraints {
  bool required = false, not_empty = false;
  std::optional<double> minimum, maximum;
  bool minimum_excluded = false, maximum_excluded = false;
  PathRule path_rule = PathRule::none;
};

/// A check given as a callable. `run(i)` checks entry i of a list (or the value of an optional, i = 0) when
/// per_element, the whole member otherwise; "" means fine.
struct CustomCheck {
  bool per_element = false;
  std::function<std::string(size_t)> run;
};

struct Field {
  std::string name, help;
  bool shown = true;  // in views of a configuration
  Value value;
  Constraints constraints;
  std::vector<CustomCheck> checks;
};

/// The options of a plug-in without their type.
class AnyOptions {
 public:
  virtual ~AnyOptions() = default;
  virtual std::unique_ptr<AnyOptions> clone() const = 0;
  /// Views of the members of this object.
  virtual FieldList fields() = 0;
  virtual CrossProblems problems() const = 0;
  /// The options in declared order.
  Json json() const;
};

/// A registry without its plug-in type.
class RegistryBase {
 public:
  virtual ~RegistryBase() = default;
  virtual std::vector<std::string> names() const = 0;
  virtual bool has(const std::string& name) const = 0;
  virtual std::string summary(const std::string& name) const = 0;
  /// The options at their defaults. `name` must be registered.
  virtual std::unique_ptr<AnyOptions> make_options(const std::string& name) const = 0;
};

/// A chosen plug-in and its options; a value type (copies are deep).
class PluginBase {
 public:
  PluginBase() = default;
  PluginBase(std::string plugin_type) : type(std::move(plugin_type)) {}
  PluginBase(const PluginBase& other) : type(other.type), options_(copy(other)) {}
  PluginBase(PluginBase&&) noexcept = default;
  PluginBase& operator=(const PluginBase& other) {
    type = other.type;
    options_ = copy(other);
    return *this;
  }
  PluginBase& operator=(PluginBase&&) noexcept = default;
  virtual ~PluginBase() = default;

  virtual const RegistryBase& registry() const = 0;
  const std::string& name() const { return type; }
  /// Chooses a plug-in; its options start from their defaults.
  void set_type(const std::string& plugin_type) {
    type = plugin_type;
    options_.reset();
  }
  /// Throws std::logic_error where `type` is not registered.
  AnyOptions& options() const;
  Json options_json() const { return options().json(); }

  /// Name in the registry; empty = not chosen.
  std::string type;

 private:
  static std::unique_ptr<AnyOptions> copy(const PluginBase& other) {
    return other.options_ ? other.options_->clone() : nullptr;
  }
  mutable std::unique_ptr<AnyOptions> options_;  // made when first asked for: registries fill after static defaults
};

/// A plug-in in a list.
class PluginItemBase : public PluginBase {
 public:
  PluginItemBase() = default;
  PluginItemBase(std::string plugin_type) : PluginBase(plugin_type), label(std::move(plugin_type)) {}

  /// Name of the entry in results: [a-z0-9_]+, unique in its list; by default the type.
  std::string label;
};

}  // namespace headprune
