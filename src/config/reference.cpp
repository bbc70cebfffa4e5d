#include "config/dump.h"
#include "config/one_or_list.h"
#include "config/overloaded.h"
#include "config/scalars.h"
#include "core/text.h"

namespace headprune {

namespace {

std::string type_text(Value& value, const Constraints& limits) {
  const std::string range = range_text(limits);
  const std::string suffix = range.empty() ? "" : ", " + range;
  return std::visit(
      Overloaded{
          [&](int64_t*) { return "whole number" + suffix; }, [&](double*) { return "number" + suffix; },
          [](bool*) { return std::string("true or false"); }, [](std::string*) { return std::string("text"); },
          [&](std::filesystem::path*) {
            switch (limits.path_rule) {
              case PathRule::file:
                return std::string("path of a file");
              case PathRule::folder:
                return std::string("path of a folder");
              case PathRule::none:
              case PathRule::exists:
                break;
            }
            return std::string("path");
          },
          [](std::shared_ptr<ChoiceView>& choice) { return "one of " + join(choice->names(), ", "); },
          [&](std::shared_ptr<OptionalView>& optional) {
            Value inner = optional->get();
            return type_text(inner, limits) + ", or null";
          },
          [&](std::shared_ptr<ListView>& list) {
            Value element = list->append();
            const bool may_be_one = dynamic_cast<const OneOrListView*>(list.get()) != nullptr;
            return (may_be_one ? "one, or a list of: " : "list, each: ") + type_text(element, limits);
          },
          [](std::shared_ptr<SectionView>&) { return std::string("section"); },
          [](PluginBase* plugin) { return "section, type: " + join(plugin->registry().names(), ", "); },
          [](PluginItemBase* item) { return "name or {name: options}: " + join(item->registry().names(), ", "); }},
      value);
}

void add_fields(FieldList fields, const std::string& path, std::vector<OptionHelp>& out) {
  for (Field& field : fields.all()) {
    const std::string full = join_path(path, field.name);
    const Json standard = value_json(field.value);  // first: type_text uses the value as scratch space
    std::shared_ptr<SectionView> section;
    Value inner = field.value;
    if (auto* optional = std::get_if<std::shared_ptr<OptionalView>>(&inner)) inner = (*optional)->get();
    if (auto* nested = std::get_if<std::shared_ptr<SectionView>>(&inner)) section = *nested;
    const bool shows_default = !field.constraints.required && !(section && !standard.is_null());
    out.push_back(
        {full, type_text(field.value, field.constraints), shows_default ? yaml_inline(standard) : "", field.help});
    if (section) add_fields(section->fields(), full, out);
  }
}

}  // namespace

std::vector<OptionHelp> option_help(const AnyOptions& options) {
  const std::unique_ptr<AnyOptions> scratch = options.clone();
  std::vector<OptionHelp> out;
  add_fields(scratch->fields(), "", out);
  return out;
}

}  // namespace headprune
