#include <functional>
#include <map>

#include "config/decode.h"
#include "config/one_or_list.h"
#include "config/overloaded.h"

namespace headprune {

namespace fs = std::filesystem;

namespace {

std::string path_problem(const fs::path& path, PathRule rule) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (rule == PathRule::none) return "";
  if (status.type() == fs::file_type::not_found) return "'" + path.string() + "' does not exist";
  if (status.type() == fs::file_type::none) return "'" + path.string() + "' cannot be looked at: " + error.message();
  if (fs::is_other(status)) return "'" + path.string() + "' is neither a regular file nor a folder";
  if (rule == PathRule::file && fs::is_directory(status)) return "'" + path.string() + "' is a folder, not a file";
  if (rule == PathRule::folder && !fs::is_directory(status)) return "'" + path.string() + "' is not a folder";
  return "";
}

class Finisher {
 public:
  Finisher(const Place& start, DecodeState& state) : start_(start), state_(state) {}

  /// `rules` gives what is broken among the keys of the section; asked when all fields have been seen.
  void section(FieldList fields, std::function<CrossProblems()> rules, const std::string& path) {
    for (Field& field : fields.all()) {
      const std::string full = join_path(path, field.name);
      if (field.constraints.required && !state_.origins.contains(full))
        add_missing(full, "missing; this key must be given");
      else
        value(field.value, full, field.constraints);
    }
    rules_.push_back({path, std::move(rules)});
  }

  /// Rules about several keys, where the keys themselves are fine.
  void report_rules() {
    const Problems before = state_.problems;
    for (const Rules& rules : rules_) {
      if (before.undecided_inside(rules.section)) continue;
      for (const auto& [key, message] : ask(rules, before)) {
        const std::string full = join_path(rules.section, key);
        if (!before.concerns(full)) state_.problems.add(place(full), full, message);
      }
    }
  }

 private:
  struct Rules {
    std::string section;
    std::function<CrossProblems()> ask;
  };

  /// A rule may trip over values that are reported already.
  static CrossProblems ask(const Rules& rules, const Problems& before) {
    try {
      return rules.ask();
    } catch (const std::exception&) {
      if (before.empty()) throw;
      return {};
    }
  }

  /// Where `path` was set, or else the nearest section around it.
  Place place(std::string path) const {
    for (; !path.empty(); path = parent_path(path))
      if (const auto at = state_.origins.find(path); at != state_.origins.end()) return at->second;
    return start_;
  }
  void add(const std::string& path, const std::string& message) {
    if (!message.empty() && !state_.problems.concerns(path)) state_.problems.add(place(path), path, message);
  }

  void add_missing(const std::string& path, const std::string& message) {
    add(path, message);
    state_.problems.mark_undecided(path);
  }

  void value(Value& target, const std::string& path, const Constraints& limits) {
    std::visit(Overloaded{[](int64_t*) {}, [](double*) {}, [](bool*) {}, [](std::shared_ptr<ChoiceView>&) {},
                          [&](std::string* text) {
                            if (limits.not_empty && text->empty()) add(path, "must not be empty");
                          },
                          [&](fs::path* file) { finish_path(*file, path, limits); },
                          [&](std::shared_ptr<OptionalView>& optional) {
                            if (!optional->has()) return;
                            Value inner = optional->get();
                            value(inner, path, limits);
                          },
                          [&](std::shared_ptr<ListView>& list) { finish_list(*list, path, limits); },
                          [&](std::shared_ptr<SectionView>& inner) {
                            section(
                                inner->fields(), [inner] { return inner->problems(); }, path);
                          },
                          [&](PluginBase* plugin) { finish_plugin(*plugin, path); },
                          [&](PluginItemBase* item) { finish_plugin(*item, join_path(path, item->type)); }},
               target);
  }

  void finish_path(fs::path& file, const std::string& path, const Constraints& limits) {
    if (file.empty()) {
      if (limits.not_empty || limits.path_rule != PathRule::none) add(path, "must not be empty");
      return;
    }
    file = resolve_path(file.string(), fs::current_path());
    add(path, path_problem(file, limits.path_rule));
  }

  void finish_list(ListView& list, const std::string& path, const Constraints& limits) {
    if (limits.not_empty && list.size() == 0) add(path, "must not be empty");
    Constraints inner = limits;
    inner.not_empty = false;                    // said of the list
    std::map<std::string, std::string> labels;  // label -> path of the entry that has it
    const bool may_be_alike = dynamic_cast<const OneOrListView*>(&list) != nullptr;
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string full = join_path(path, std::to_string(i));
      Value entry = list.at(i);
      value(entry, full, inner);
      if (auto* item = std::get_if<PluginItemBase*>(&entry); item && !(*item)->type.empty() && !may_be_alike) {
        const auto [first, is_new] = labels.emplace((*item)->label, full);
        if (is_new) continue;
        const std::string options = join_path(full, (*item)->type);
        const std::string label = join_path(options, "label");
        add(state_.origins.contains(label) ? label : full,
            fmt::format("the label '{}' is taken by {} ({}); give one of them another 'label:'", (*item)->label,
                        first->second, place(first->second).text()));
      }
    }
  }

  void finish_plugin(PluginBase& plugin, const std::string& path) {
    if (plugin.type.empty())
      add_missing(path, "missing; this section must be given, with the key 'type'");
    else if (!plugin.registry().has(plugin.type))
      add_missing(path, "unknown type '" + plugin.type + "'");
    else
      section(
          plugin.options().fields(), [&plugin] { return plugin.options().problems(); }, path);
  }

  Place start_;
  DecodeState& state_;
  std::vector<Rules> rules_;
};

}  // namespace

void finish_config(const Place& start, DecodeState& state) {
  Finisher finisher(start, state);
  finisher.section(
      state.root.fields(), [&state] { return state.root.problems(); }, "");
  finisher.report_rules();
}

}  // namespace headprune
