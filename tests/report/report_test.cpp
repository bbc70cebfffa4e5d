#include "report/page/report.h"

#include "report/approved.h"
#include "report/fixture.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

Document document_of(const Record& record) {
  const ReportInput input{record, agreement_rows(record), std::nullopt, "name: toy\n", {}};
  return report_document(input);
}

}  // namespace

TEST_CASE("report.md of one and of several seeds, and of an unfinished run", "[report]") {
  check_approved("report_one_seed", report_markdown(document_of(one_seed()), one_seed()));
  check_approved("report_two_seeds", report_markdown(document_of(two_seeds()), two_seeds()));
  Record record = one_seed();
  record.done.reset();
  record.failed["00ff"] = {"00ff", "nonfinite", "the loss is not a number"};
  std::erase_if(record.points, [](const auto& entry) { return !entry.second.spec.table.empty(); });
  record.timing.clear();
  record.surgery.clear();
  check_approved("report_partial", report_markdown(document_of(record), record));
}

TEST_CASE("a run that has only begun has a report too", "[report]") {
  Record record;
  record.attempts = 1;
  const std::string html = document_html(document_of(record));
  CHECK_THAT(html, ContainsSubstring("PARTIAL"));
  CHECK_THAT(html, ContainsSubstring("not been evaluated"));
}

TEST_CASE("report.html needs nothing from outside and no script", "[report]") {
  const std::string html = document_html(document_of(two_seeds()));
  for (const char* part : {"<script", "http://", "https://", "url(", "@import", "<link", "src="}) {
    INFO(part);
    CHECK(html.find(part) == std::string::npos);
  }
  CHECK_THAT(html, ContainsSubstring("prefers-color-scheme:dark"));
  CHECK_THAT(html, ContainsSubstring("@media print"));
  CHECK_THAT(html, ContainsSubstring("width=device-width"));
  CHECK_THAT(html, ContainsSubstring("Shared splits: score and select are the same data."));
  CHECK_THAT(html, ContainsSubstring("accuracy by seed: seed 1 0.900, seed 2 0.800."));
}

TEST_CASE("the signature of a metric stands with the unpruned model", "[report]") {
  Record record = one_seed();
  record.facts->metrics[0].signature = "nrefs:1|case:mixed";
  const Document document = document_of(record);
  CHECK_THAT(report_markdown(document, record), ContainsSubstring("\n- accuracy: nrefs:1\\|case:mixed\n"));
  CHECK_THAT(document_html(document), ContainsSubstring("<li>accuracy: nrefs:1|case:mixed</li>"));
}

TEST_CASE("names from outside are escaped in both forms", "[report]") {
  Record record = two_seeds();
  record.facts->task = "<b>x</b>|y";
  record.warnings = {{"code", "<img src=x onerror=alert(1)> | *bold*"}};
  const Document document = document_of(record);
  const std::string html = document_html(document), markdown = report_markdown(document, record);
  CHECK(html.find("<img") == std::string::npos);
  CHECK(html.find("<b>") == std::string::npos);
  CHECK_THAT(markdown, ContainsSubstring("\\<img src=x onerror=alert(1)\\>"));
  CHECK_THAT(markdown, ContainsSubstring("\\|y"));
  CHECK_THAT(markdown, ContainsSubstring("\\*bold\\*"));
}
