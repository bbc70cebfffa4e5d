#include "config/dump.h"

#include "config/overloaded.h"

namespace headprune {

namespace fs = std::filesystem;

namespace {

Json fields_json(FieldList fields, Json into, const PathRenderer& paths) {
  for (Field& field : fields.all()) {
    if (!field.shown) continue;
    Json value = value_json(field.value, paths);
    if (!value.is_null()) into[field.name] = std::move(value);
  }
  return into;
}

}  // namespace

Json value_json(Value& target, const PathRenderer& paths) {
  return std::visit(
      Overloaded{[](int64_t* whole) { return Json(*whole); }, [](double* number) { return Json(*number); },
                 [](bool* flag) { return Json(*flag); }, [](std::string* text) { return Json(*text); },
                 [&](fs::path* path) { return Json(paths && !path->empty() ? paths(*path) : path->string()); },
                 [](std::shared_ptr<ChoiceView>& choice) { return Json(choice->get()); },
                 [&](std::shared_ptr<OptionalView>& optional) {
                   if (!optional->has()) return Json();
                   Value inner = optional->get();
                   return value_json(inner, paths);
                 },
                 [&](std::shared_ptr<ListView>& list) {
                   Json out = Json::array();
                   for (size_t i = 0; i < list->size(); ++i) {
                     Value entry = list->at(i);
                     out.push_back(value_json(entry, paths));
                   }
                   return out;
                 },
                 [&](std::shared_ptr<SectionView>& section) { return section_json(*section, paths); },
                 [&](PluginBase* plugin) {
                   if (plugin->type.empty()) return Json();
                   return fields_json(plugin->options().fields(), Json{{"type", plugin->type}}, paths);
                 },
                 [&](PluginItemBase* item) {
                   if (item->type.empty()) return Json();
                   Json start = Json::object();
                   if (item->label != item->type) start["label"] = item->label;
                   return Json{{item->type, fields_json(item->options().fields(), std::move(start), paths)}};
                 }},
      target);
}

Json section_json(SectionView& section, const PathRenderer& paths) {
  return fields_json(section.fields(), Json::object(), paths);
}

Json AnyOptions::json() const {
  const std::unique_ptr<AnyOptions> copy = clone();  // views need a mutable object
  return fields_json(copy->fields(), Json::object(), {});
}

}  // namespace headprune
