#include "report/tables/runs_text.h"

#include <fmt/format.h>

#include "core/text.h"
#include "report/text/text_table.h"

namespace headprune {
namespace {

constexpr size_t kShortId = 12;

std::string points_text(const PointCounts& points) {
  std::string text = fmt::format("{}/{}", points.done, points.total);
  if (points.failed > 0) text += fmt::format(", {} failed", points.failed);
  if (points.skipped > 0) text += fmt::format(", {} skipped", points.skipped);
  return text;
}

}  // namespace

std::string runs_table(const std::vector<RunSummary>& runs, size_t width) {
  if (runs.empty()) return "no runs\n";
  TextRows rows = {{"name", "state", "stage", "points", "created", "experiment"}};
  for (const RunSummary& run : runs) {
    rows.push_back({run.name, run.problem.empty() ? run.state : "unreadable", run.stage, points_text(run.points),
                    run.created, run.experiment_id.substr(0, kShortId)});
  }
  std::string out = text_table(rows, {width, 0, 6, 0, 6});
  for (const RunSummary& run : runs) {
    if (!run.problem.empty()) out += wrapped(fmt::format("{}: {}", run.name, run.problem), width, 0);
  }
  return out;
}

std::string run_info_text(const RunSummary& run, const RunContext& context,
                          const std::optional<std::vector<std::string>>& problems) {
  TextRows rows = {
      {"run", run.path.string()},
      {"state", run.reason.empty() ? run.state : fmt::format("{} ({})", run.state, run.reason)},
      {"points", points_text(run.points)},
      {"created", run.created},
      {"experiment", run.experiment_id},
      {"tool",
       fmt::format("headprune {} ({}{})", member_text(context.tool, "version"), member_text(context.tool, "git"),
                   member_text(context.tool, "dirty") == "true" ? ", with changes" : "")},
      {"host", fmt::format("{}, {}", member_text(context.host, "name"), member_text(context.host, "cpu"))}};
  if (!run.stage.empty()) rows.insert(rows.begin() + 2, {"stage", run.stage});
  if (!context.argv.empty()) rows.push_back({"command", join(context.argv, " ")});
  for (const Json& input : context.inputs) {
    rows.push_back({member_text(input, "role"), fmt::format("{} ({})", member_text(input, "path"),
                                                            member_text(input, "sha256").substr(0, kShortId))});
  }
  if (context.fingerprint.is_object()) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : context.fingerprint.items()) {
      parts.push_back(fmt::format("{} {}", key, member_text(context.fingerprint, key.c_str())));
    }
    rows.push_back({"fingerprint", join(parts, ", ")});
  }
  std::string out = text_table(rows, {80, 0, 2, 0, 2});
  if (!problems) return out;
  if (problems->empty()) return out + "verified: every digest is right\n";
  for (const std::string& problem : *problems) out += fmt::format("problem: {}\n", problem);
  return out;
}

std::string run_diff_text(const RunDifferences& differences) {
  std::string out;
  const auto add = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out += fmt::format("{}\n", title);
    for (const std::string& line : lines) out += fmt::format("  {}\n", line);
  };
  add("configuration", differences.config);
  add("inputs", differences.inputs);
  add("fingerprint", differences.fingerprint);
  add("tool", differences.tool);
  if (out.empty()) return "the runs have the same configuration, inputs, fingerprint and tool\n";
  if (!differences.same_experiment) return out + "two experiments: their ids differ\n";
  return out + (differences.fingerprint.empty()
                    ? "one experiment: results can be compared\n"
                    : "one experiment under other circumstances, which can change numbers\n");
}

}  // namespace headprune
