// Plug-ins: one .cpp each, registered by name at the bottom of it, chosen in YAML.
//
//   const Register<ScoreMethod, GradientL1> register_gradient_l1{"gradient_l1", "one-line summary"};
//
// needs `struct GradientL1::Options` with fields(), and a constructor GradientL1(Options).
#pragma once

#include <map>
#include <set>

#include "config/fields.h"

namespace headprune {

/// Options of one plug-in.
template <class O>
class OptionsOf final : public AnyOptions {
 public:
  OptionsOf() = default;
  explicit OptionsOf(O options) : value(std::move(options)) {}
  std::unique_ptr<AnyOptions> clone() const override { return std::make_unique<OptionsOf>(value); }
  FieldList fields() override {
    FieldList list;
    value.fields(list);
    return list;
  }
  CrossProblems problems() const override { return cross_problems(value); }

  O value;
};

template <class T>
struct PluginEntry {
  std::string summary;
  std::unique_ptr<AnyOptions> (*make_options)() = nullptr;
  std::shared_ptr<T> (*make)(const AnyOptions&) = nullptr;
};

/// All plug-ins of one kind. Filled during static initialisation, never afterwards.
template <class T>
class Registry final : public RegistryBase {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  /// The first of two entries of one name stays; the name goes to duplicates().
  void add(const std::string& name, PluginEntry<T> entry) {
    if (!entries_.emplace(name, std::move(entry)).second) duplicates_.insert(name);
  }
  const PluginEntry<T>* find(const std::string& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second;
  }
  /// Sorted.
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& entry : entries_) all.push_back(entry.first);
    return all;
  }
  /// Names that were registered twice: a mistake in the build, which main reports.
  std::vector<std::string> duplicates() const { return {duplicates_.begin(), duplicates_.end()}; }

  bool has(const std::string& name) const override { return find(name) != nullptr; }
  std::string summary(const std::string& name) const override { return entries_.at(name).summary; }
  std::unique_ptr<AnyOptions> make_options(const std::string& name) const override {
    return entries_.at(name).make_options();
  }

 private:
  Registry() = default;
  std::map<std::string, PluginEntry<T>> entries_;
  std::set<std::string> duplicates_;
};

template <class T, class Impl>
struct Register {
  Register(const char* name, const char* summary) {
    using Options = typename Impl::Options;
    PluginEntry<T> entry;
    entry.summary = summary;
    entry.make_options = []() -> std::unique_ptr<AnyOptions> { return std::make_unique<OptionsOf<Options>>(); };
    entry.make = [](const AnyOptions& options) -> std::shared_ptr<T> {
      return std::make_shared<Impl>(dynamic_cast<const OptionsOf<Options>&>(options).value);
    };
    Registry<T>::instance().add(name, std::move(entry));
  }
};

namespace detail {

/// What Plugin and PluginItem share: the registry of T, and making the object.
template <class T, class Base>
class PluginOf : public Base {
 public:
  using Base::Base;
  const RegistryBase& registry() const override { return Registry<T>::instance(); }
  /// The plug-in with these options. Throws std::logic_error where `type` is not registered.
  std::shared_ptr<T> make() const {
    const AnyOptions& options = this->options();
    return Registry<T>::instance().find(this->type)->make(options);
  }
};

}  // namespace detail

/// A plug-in in a section: key `type` with its options beside it. Never empty after loading; wrap it in std::optional
/// where it may be absent. Default in code: Plugin<Task> task{"classification"}.
template <class T>
class Plugin final : public detail::PluginOf<T, PluginBase> {
 public:
  using detail::PluginOf<T, PluginBase>::PluginOf;
};

/// A plug-in in a list, std::vector<PluginItem<T>>: its name, or a map of one key from the name to its options, among
/// which `label` may stand.
template <class T>
class PluginItem final : public detail::PluginOf<T, PluginItemBase> {
 public:
  using detail::PluginOf<T, PluginItemBase>::PluginOf;
};

}  // namespace headprune
