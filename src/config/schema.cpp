#include <cmath>

#include "config/dump.h"
#include "config/one_or_list.h"
#include "config/overloaded.h"

namespace headprune {

namespace {

Json fields_schema(FieldList fields, Json properties);

Json limit(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<int64_t>(value)) : Json(value);
}

Json number_schema(const char* type, const Constraints& limits) {
  Json schema = {{"type", type}};
  if (limits.minimum) schema[limits.minimum_excluded ? "exclusiveMinimum" : "minimum"] = limit(*limits.minimum);
  if (limits.maximum) schema[limits.maximum_excluded ? "exclusiveMaximum" : "maximum"] = limit(*limits.maximum);
  return schema;
}

/// A section whose key `type` decides which other keys there are.
Json plugin_schema(const PluginBase& plugin) {
  const RegistryBase& registry = plugin.registry();
  Json names = registry.names(), cases = Json::array();
  for (const std::string& name : registry.names()) {
    const Json is_it = {{"properties", {{"type", {{"const", name}}}}}, {"required", {"type"}}};
    Json type = {{"type", {{"const", name}, {"description", registry.summary(name)}}}};
    cases.push_back({{"if", is_it}, {"then", fields_schema(registry.make_options(name)->fields(), std::move(type))}});
  }
  Json schema = {{"type", "object"}, {"properties", {{"type", {{"enum", names}}}}}};
  if (plugin.type.empty()) schema["required"] = {"type"};
  schema["allOf"] = std::move(cases);
  return schema;
}

/// A name, or a map of one key from the name to its options.
Json item_schema(const RegistryBase& registry) {
  Json by_name = Json::object();
  for (const std::string& name : registry.names()) {
    Json label = {{"label", {{"type", "string"}, {"pattern", "^[a-z0-9_]+$"}, {"description", "name in results"}}}};
    Json options = fields_schema(registry.make_options(name)->fields(), std::move(label));
    options["type"] = {"object", "null"};
    options["description"] = registry.summary(name);
    by_name[name] = std::move(options);
  }
  const Json plain = {{"enum", registry.names()}};
  const Json map = {{"type", "object"},
                    {"properties", std::move(by_name)},
                    {"additionalProperties", false},
                    {"minProperties", 1},
                    {"maxProperties", 1}};
  return {{"oneOf", {plain, map}}};
}

Json value_schema(Value& value, const Constraints& limits) {
  return std::visit(
      Overloaded{[&](int64_t*) { return number_schema("integer", limits); },
                 [&](double*) { return number_schema("number", limits); },
                 [](bool*) {
                   return Json{{"type", "boolean"}};
                 },
                 [&](std::string*) {
                   Json schema = {{"type", "string"}};
                   if (limits.not_empty) schema["minLength"] = 1;
                   return schema;
                 },
                 [](std::filesystem::path*) {
                   return Json{{"type", "string"}};
                 },
                 [](std::shared_ptr<ChoiceView>& choice) {
                   return Json{{"enum", choice->names()}};
                 },
                 [&](std::shared_ptr<OptionalView>& optional) {
                   Value inner = optional->get();
                   return Json{{"anyOf", {value_schema(inner, limits), {{"type", "null"}}}}};
                 },
                 [&](std::shared_ptr<ListView>& list) {
                   Constraints each = limits;
                   each.not_empty = false;
                   Value element = list->append();
                   Json schema = {{"type", "array"}, {"items", value_schema(element, each)}};
                   if (limits.not_empty) schema["minItems"] = 1;
                   if (!dynamic_cast<const OneOrListView*>(list.get())) return schema;
                   const Json one = schema["items"];
                   return Json{{"anyOf", {one, schema}}};
                 },
                 [](std::shared_ptr<SectionView>& section) { return fields_schema(section->fields(), Json::object()); },
                 [](PluginBase* plugin) { return plugin_schema(*plugin); },
                 [](PluginItemBase* item) { return item_schema(item->registry()); }},
      value);
}

Json fields_schema(FieldList fields, Json properties) {
  Json required_keys = Json::array();
  for (Field& field : fields.all()) {
    Json standard = value_json(field.value);  // first: value_schema uses the value as scratch space
    Json schema = value_schema(field.value, field.constraints);
    schema["description"] = field.help;
    if (field.constraints.required)
      required_keys.push_back(field.name);
    else if (!standard.is_null() && !standard.is_object())
      schema["default"] = std::move(standard);
    properties[field.name] = std::move(schema);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required_keys.empty()) schema["required"] = std::move(required_keys);
  schema["additionalProperties"] = false;
  schema["patternProperties"] = {{"^x-", Json::object()}};
  return schema;
}

}  // namespace

Json section_schema(SectionView& section) {
  Json own = {{"schema_version", {{"const", 1}, {"description", "version of this format"}, {"default", 1}}},
              {"extends",
               {{"type", "array"},
                {"items", {{"type", "string"}}},
                {"description",
                 "files decoded first, left to right; paths start at this file, headprune:configs/... comes with the "
                 "program"}}}};
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "headprune experiment"}};
  schema.update(fields_schema(section.fields(), std::move(own)));
  if (schema.contains("required")) {
    // A file that extends others may leave to them what is required.
    const Json keys = schema.at("required");
    schema.erase("required");
    schema["if"] = {{"not", {{"required", {"extends"}}}}};
    schema["then"] = {{"required", keys}};
  }
  return schema;
}

}  // namespace headprune
