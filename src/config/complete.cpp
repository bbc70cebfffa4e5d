#include "config/complete.h"

#include <algorithm>

#include "config/fields.h"

namespace headprune {

namespace {

/// The value of an optional, or the value itself.
Value inside(Value value) {
  auto* optional = std::get_if<std::shared_ptr<OptionalView>>(&value);
  return optional ? inside((*optional)->get()) : value;
}

bool is_section(const Value& value) {
  return std::holds_alternative<std::shared_ptr<SectionView>>(value) || std::holds_alternative<PluginBase*>(value);
}

/// Words that can stand for a value; none for numbers and free text.
std::vector<std::string> words_of(Value value) {
  if (std::holds_alternative<bool*>(value)) return {"true", "false"};
  if (auto* choice = std::get_if<std::shared_ptr<ChoiceView>>(&value)) return (*choice)->names();
  if (auto* item = std::get_if<PluginItemBase*>(&value)) return (*item)->registry().names();
  return {};
}

class Completer {
 public:
  explicit Completer(const std::string& word) : word_(word) {}

  /// `at`: where in the word the keys of these fields begin.
  void keys(FieldList fields, size_t at) {
    const size_t end = word_.find_first_of(".=", at);
    for (Field& field : fields.all()) {
      const Value value = inside(field.value);
      if (end == std::string::npos)
        offer(at, field.name + (is_section(value) ? "." : "="));
      else if (word_.substr(at, end - at) == field.name)
        below(value, end);
    }
  }

  std::vector<std::string> found() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  void offer(size_t at, const std::string& next) {
    const std::string whole = word_.substr(0, at) + next;
    if (whole.starts_with(word_)) found_.push_back(whole);
  }

  /// What follows the '.' or '=' at `end`.
  void below(const Value& value, size_t end) {
    if (word_[end] == '=') return values(value, end + 1);
    if (auto* section = std::get_if<std::shared_ptr<SectionView>>(&value)) keys((*section)->fields(), end + 1);
    if (auto* plugin = std::get_if<PluginBase*>(&value)) options((*plugin)->registry(), end + 1);
  }

  void options(const RegistryBase& registry, size_t at) {
    const std::string type = "type=";
    if (word_.compare(at, type.size(), type) == 0)
      for (const std::string& name : registry.names()) offer(at + type.size(), name);
    else
      offer(at, type);
    for (const std::string& name : registry.names()) {
      const std::unique_ptr<AnyOptions> made = registry.make_options(name);
      keys(made->fields(), at);
    }
  }

  void values(const Value& value, size_t at) {
    auto* list = std::get_if<std::shared_ptr<ListView>>(&value);
    if (!list) {
      for (const std::string& word : words_of(value)) offer(at, word);
      return;
    }
    const size_t last = word_.find_last_of("[,");
    const bool begun = last != std::string::npos && last >= at;
    for (const std::string& word : words_of((*list)->append())) offer(begun ? last + 1 : at, (begun ? "" : "[") + word);
  }

  const std::string& word_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> complete_override(SectionView& root, const std::string& word) {
  Completer completer(word);
  completer.keys(root.fields(), 0);
  return completer.found();
}

}  // namespace headprune
