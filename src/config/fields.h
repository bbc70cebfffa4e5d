// One list of fields per options struct:
//
//   enum class Norm { none, layer_l2 };
//   template <> struct EnumNames<Norm> {
//     static constexpr std::pair<const char*, Norm> names[] = {{"none", Norm::none}, {"layer_l2", Norm::layer_l2}};
//   };
//   struct Options {
//     int64_t draws = 5;
//     Norm normalize = Norm::none;
//     template <class V> void fields(V& v) {
//       v("draws", draws, "how many independent draws", at_least(1));
//       v("normalize", normalize, "scale of the scores of one layer");
//     }
//   };
//
// Members: int64_t, double, bool, std::string, std::filesystem::path, an enum with EnumNames, a name with choices(),
// std::optional<T>, std::vector<T>, a nested struct with fields() (a section, merged key by key), Plugin<T>,
// std::vector<PluginItem<T>> (registry.h). Checks after the help: at_least at_most between above below required
// not_empty existing_path existing_file existing_folder, and any callable std::string(const Member&) or (const
// Element&) where "" means fine. A number check on a list applies to each entry. Rules about several keys: a member
// `std::string check() const`, or `CrossProblems problems() const`; both run after all layers.
#pragma once

#include <concepts>
#include <stdexcept>
#include <type_traits>

#include "config/value.h"

namespace headprune {

/// Specialise for each enum that stands in a configuration: the one table for parsing, printing and listing.
template <class E>
struct EnumNames;

template <class E>
const char* enum_name(E value) {
  for (const auto& [name, known] : EnumNames<E>::names)
    if (known == value) return name;
  throw std::logic_error("enum value without a name");
}

/// The value of a name, or nothing.
template <class E>
std::optional<E> enum_value(std::string_view word) {
  for (const auto& [name, known] : EnumNames<E>::names)
    if (word == name) return known;
  return std::nullopt;
}

inline Constraints at_least(double limit) { return {.minimum = limit, .maximum = {}}; }
inline Constraints at_most(double limit) { return {.minimum = {}, .maximum = limit}; }
/// Both limits are allowed values.
inline Constraints between(double low, double high) { return {.minimum = low, .maximum = high}; }
inline Constraints above(double limit) { return {.minimum = limit, .maximum = {}, .minimum_excluded = true}; }
inline Constraints below(double limit) { return {.minimum = {}, .maximum = limit, .maximum_excluded = true}; }
/// Must be set by some layer.
inline const Constraints required{.required = true, .minimum = {}, .maximum = {}};
/// Text that is not "", a list with an entry.
inline const Constraints not_empty{.not_empty = true, .minimum = {}, .maximum = {}};
/// Checked after all layers, on the value that won.
inline const Constraints existing_path{.minimum = {}, .maximum = {}, .path_rule = PathRule::exists};
inline const Constraints existing_file{.minimum = {}, .maximum = {}, .path_rule = PathRule::file};
inline const Constraints existing_folder{.minimum = {}, .maximum = {}, .path_rule = PathRule::folder};

/// Visits the fields of a struct and keeps a view of each.
class FieldList {
 public:
  template <class T, class... Checks>
  void operator()(const char* name, T& member, const char* help, const Checks&... checks);
  /// The key answers "not supported: instead" in place of "unknown key".
  void not_supported(const char* name, const char* instead) {
    retired_.emplace_back(name, std::string("not supported: ") + instead);
  }
  /// The key answers "renamed to 'new_name'".
  void renamed(const char* old_name, const char* new_name) {
    retired_.emplace_back(old_name, std::string("renamed to '") + new_name + "'");
  }

  /// Views of this configuration leave these fields out, since what stands in them does not count.
  void hide(const std::vector<std::string>& names);

  std::vector<Field>& all() { return fields_; }
  Field* find(const std::string& name);
  std::vector<std::string> names() const;
  /// The answer for a key that is gone or will not come, or nullptr.
  const std::string* retired(const std::string& name) const;

 private:
  void add(Field field);  // throws std::logic_error when the name is taken
  std::vector<Field> fields_;
  std::vector<std::pair<std::string, std::string>> retired_;
};

/// A name out of a list that is known at run time only (registered plug-ins): T::choices(), choice(), choose(name).
template <class T>
concept HasChoices = requires(T& t, const std::string& name) {
  { T::choices() } -> std::same_as<std::vector<std::string>>;
  { t.choice() } -> std::convertible_to<std::string>;
  t.choose(name);
};

template <class T>
concept HasFields = requires(T& t, FieldList& v) {
  t.fields(v);
};

template <class T>
CrossProblems cross_problems(const T& section) {
  CrossProblems found;
  if constexpr (requires { section.problems(); }) found = section.problems();
  if constexpr (requires { section.check(); }) {
    std::string whole = section.check();
    if (!whole.empty()) found.emplace_back("", std::move(whole));
  }
  return found;
}

/// A view of `member`.
template <class T>
Value bind_value(T& member);

namespace detail {

template <class T>
struct ElementOf {
  using type = void;
};
template <class T>
struct ElementOf<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
  static constexpr bool is_optional = false;
};

template <class E>
class BoundChoice final : public ChoiceView {
 public:
  explicit BoundChoice(E& member) : member_(member) {}
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& entry : EnumNames<E>::names) all.emplace_back(entry.first);
    return all;
  }
  std::string get() const override { return enum_name(member_); }
  void set(size_t index) override { member_ = EnumNames<E>::names[index].second; }

 private:
  E& member_;
};

template <class T>
class BoundName final : public ChoiceView {
 public:
  explicit BoundName(T& member) : member_(member) {}
  std::vector<std::string> names() const override { return T::choices(); }
  std::string get() const override { return member_.choice(); }
  void set(size_t index) override { member_.choose(T::choices().at(index)); }

 private:
  T& member_;
};

template <class T>
class BoundOptional final : public OptionalView {
 public:
  explicit BoundOptional(std::optional<T>& member) : member_(member) {}
  bool has() const override { return member_.has_value(); }
  void reset() override { member_.reset(); }
  Value get() override {
    if (!member_) member_.emplace();
    return bind_value(*member_);
  }

 private:
  std::optional<T>& member_;
};

template <class T>
class BoundList final : public ListView {
 public:
  static_assert(!std::is_same_v<T, bool>, "a list of bool cannot be bound");
  explicit BoundList(std::vector<T>& member) : member_(member) {}
  size_t size() const override { return member_.size(); }
  void clear() override { member_.clear(); }
  Value append() override { return bind_value(member_.emplace_back()); }
  Value at(size_t index) override { return bind_value(member_.at(index)); }

 private:
  std::vector<T>& member_;
};

template <class T>
class BoundSection final : public SectionView {
 public:
  explicit BoundSection(T& member) : member_(member) {}
  FieldList fields() override {
    FieldList list;
    member_.fields(list);
    return list;
  }
  CrossProblems problems() const override { return cross_problems(member_); }

 private:
  T& member_;
};

template <class C, class T>
void add_check(Field& field, T& member, const C& check) {
  if constexpr (std::is_same_v<C, Constraints>) {
    Constraints& merged = field.constraints;
    merged.required |= check.required;
    merged.not_empty |= check.not_empty;
    if (check.path_rule != PathRule::none) merged.path_rule = check.path_rule;
    if (check.minimum) merged.minimum = check.minimum, merged.minimum_excluded = check.minimum_excluded;
    if (check.maximum) merged.maximum = check.maximum, merged.maximum_excluded = check.maximum_excluded;
  } else if constexpr (std::is_invocable_r_v<std::string, const C&, const T&>) {
    field.checks.push_back(
        {.per_element = false, .run = [check, &member](size_t) { return std::string(check(member)); }});
  } else {
    using Element = typename ElementOf<T>::type;
    static_assert(std::is_invocable_r_v<std::string, const C&, const Element&>,
                  "a check takes the member or one entry of it and returns std::string");
    field.checks.push_back({.per_element = true, .run = [check, &member](size_t i) {
                              if constexpr (ElementOf<T>::is_optional)
                                return i == 0 && member ? std::string(check(*member)) : std::string();
                              else
                                return std::string(check(member.at(i)));
                            }});
  }
}

}  // namespace detail

template <class T>
Value bind_value(T& member) {
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> || std::is_same_v<T, bool> ||
                std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>)
    return &member;
  else if constexpr (std::is_enum_v<T>)
    return std::make_shared<detail::BoundChoice<T>>(member);
  else if constexpr (HasChoices<T>)
    return std::make_shared<detail::BoundName<T>>(member);
  else if constexpr (std::derived_from<T, PluginItemBase>)
    return static_cast<PluginItemBase*>(&member);
  else if constexpr (std::derived_from<T, PluginBase>)
    return static_cast<PluginBase*>(&member);
  else if constexpr (HasFields<T>)
    return std::make_shared<detail::BoundSection<T>>(member);
  else {
    using Element = typename detail::ElementOf<T>::type;
    static_assert(!std::is_void_v<Element>, "this type cannot stand in a configuration (see the list above)");
    if constexpr (detail::ElementOf<T>::is_optional)
      return std::make_shared<detail::BoundOptional<Element>>(member);
    else
      return std::make_shared<detail::BoundList<Element>>(member);
  }
}

template <class T, class... Checks>
void FieldList::operator()(const char* name, T& member, const char* help, const Checks&... checks) {
  Field field{.name = name, .help = help, .value = bind_value(member), .constraints = {}, .checks = {}};
  (detail::add_check(field, member, checks), ...);
  add(std::move(field));
}

}  // namespace headprune
