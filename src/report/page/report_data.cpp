// The part of a report about the data: what the splits look like, and which label is which output of the model.
#include "report/page/report_sections.h"

namespace headprune {

std::vector<DocBlock> data_section(const ReportInput& input) {
  if (!input.record.facts || input.record.facts->summaries.empty()) return {};
  const RunFacts& facts = *input.record.facts;
  std::vector<std::string> items;
  for (const SplitSummary& summary : facts.summaries) items.push_back(summary.text());
  std::vector<DocBlock> blocks = {heading_block("Data"), list_block(items)};
  if (!facts.label_notes.empty()) {
    blocks.push_back(paragraph_block("Labels of the data and outputs of the loaded model:"));
    blocks.push_back(list_block(facts.label_notes));
  }
  return blocks;
}

}  // namespace headprune
