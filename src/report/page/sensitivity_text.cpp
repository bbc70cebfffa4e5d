// Sensitivity tables on the terminal.
#include <fmt/format.h>

#include "report/page/terminal.h"
#include "report/tables/sensitivity_tables.h"

namespace headprune {

std::string sensitivity_text(const Record& record, const TerminalOptions& options) {
  const std::string metric = headline_metric(record);
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  if (groups.empty()) return "";
  const bool higher = higher_is_better(record, metric);
  std::string out = '\n' + coloured("Sensitivity", kBold, options.colour) +
                    fmt::format(": change of {} from the unpruned model\n", metric);
  out += wrapped(fmt::format("{} numbers: {} {} without these heads.", higher ? "Negative" : "Positive", metric,
                             higher ? "falls" : "rises"),
                 options.width, 2);
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    out += '\n' + fmt::format("  {}: {}\n", coloured(table.name, kBold, options.colour), table_title(table));
    out += text_table(sensitivity_rows(table, metric), {options.width, 2, 1, 0, 1});
    for (const std::string& note : table_notes(record, table, metric)) out += wrapped(note, options.width, 2);
  }
  return out;
}

}  // namespace headprune
