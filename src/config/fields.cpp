#include "config/fields.h"

#include <algorithm>

namespace headprune {

Field* FieldList::find(const std::string& name) {
  const auto at = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; });
  return at == fields_.end() ? nullptr : &*at;
}

void FieldList::hide(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (Field* field = find(name)) field->shown = false;
}

std::vector<std::string> FieldList::names() const {
  std::vector<std::string> all;
  for (const Field& field : fields_) all.push_back(field.name);
  return all;
}

const std::string* FieldList::retired(const std::string& name) const {
  for (const auto& [known, answer] : retired_)
    if (known == name) return &answer;
  return nullptr;
}

void FieldList::add(Field field) {
  if (find(field.name)) throw std::logic_error("two fields are called '" + field.name + "'");
  fields_.push_back(std::move(field));
}

AnyOptions& PluginBase::options() const {
  if (!options_) {
    if (!registry().has(type)) throw std::logic_error("no plug-in is called '" + type + "'");
    options_ = registry().make_options(type);
  }
  return *options_;
}

}  // namespace headprune
