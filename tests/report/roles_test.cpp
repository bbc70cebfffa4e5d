// What the record's analyses become: rows of roles.csv, roles that survive, agreement with importance.
#include "report/numbers/roles.h"

#include <cmath>
#include <cstring>

#include "core/safetensors.h"
#include "fixture.h"
#include "report/numbers/role_agreement.h"
#include "report/page/figures.h"
#include "report/page/report.h"
#include "report/tables/matrices_file.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

/// "look" of one_seed()'s two layers of two heads: 0.9, 0.1, 0.3, 0.2. The first and third head have the role.
void add_analysis(Record& record, int64_t seed) {
  RecordedAnalysis& analysis = record.analyses[{seed, "look"}];
  const std::vector<std::vector<double>> values = {{0.9, 0.1}, {0.3, 0.2}};
  for (int64_t layer = 0; layer < 2; ++layer) {
    AnalysisBlock block{
        .seed = seed, .analysis = "look", .block = {Kind::encoder, layer}, .heads = {0, 1}, .columns = {}};
    AnalysisColumn column{.name = "weight",
                          .values = values[static_cast<size_t>(layer)],
                          .stderrs = {0.02, 0.02},
                          .baseline = 0.05,
                          .n = 500,
                          .examples = 100};
    block.columns.push_back(column);
    analysis.blocks[block.block] = block;
  }
  AnalysisDone done{
      .seed = seed, .analysis = "look", .roles = {}, .strengths = {{"looker", "weight"}}, .tables = {}, .notes = {}};
  done.examples = 100;
  done.roles.push_back({.head = {{Kind::encoder, 0}, 0}, .role = "looker", .detail = "far", .column = "weight"});
  done.roles.push_back(
      {.head = {{Kind::encoder, 1}, 0},
       .role = "looker",
       .detail = "near",
       .column = "weight",
       .evidence = ShareFact{.value = 0.5, .stderr_ = 0.05, .baseline = 0.2, .n = 60, .examples = 40}});
  analysis.done = done;
}

}  // namespace

TEST_CASE("roles stand with the number that says so, and its interval", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  const std::vector<RoleRow> rows = role_rows(record);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].share.value == 0.9);
  CHECK(rows[1].share.value == 0.5);  // of other texts than the column's
  const Estimate estimate = rows[0].share.estimate();
  REQUIRE(estimate.ci95);
  CHECK((*estimate.ci95)[0] < 0.9);
  CHECK((*estimate.ci95)[1] <= 1);
  const std::string csv = roles_csv(record);
  CHECK_THAT(csv, ContainsSubstring("\n1,look,encoder,0,0,looker,far,weight,0.9,0.02,"));
  CHECK_THAT(csv, ContainsSubstring("\n1,look,encoder,1,0,looker,near,weight,0.5,0.05,"));
  CHECK_THAT(csv, ContainsSubstring(",0.2,60,40\n"));
  CHECK_THAT(analysis_csv(record, "look"), ContainsSubstring("\n1,encoder,1,1,weight,0.2,0.02,0.05,500,100\n"));
  CHECK(analysis_labels(record) == std::vector<std::string>{"look"});
}

TEST_CASE("a difference of shares may be below 0, in its interval and in the journal", "[report][roles]") {
  const AnalysisColumn column{.name = "above",
                              .values = {-0.01, 0.2},
                              .stderrs = {0.01, 0.02},
                              .baseline = 0,
                              .n = 500,
                              .examples = 100,
                              .difference = true};
  const AnalysisColumn read = AnalysisColumn::from_json(column.to_json());
  CHECK(read.difference);
  const Estimate estimate = read.share(0).estimate();
  REQUIRE(estimate.ci95);
  CHECK((*estimate.ci95)[0] == Approx(-0.01 - 1.96 * 0.01).margin(1e-4));
  CHECK((*estimate.ci95)[1] == Approx(-0.01 + 1.96 * 0.01).margin(1e-4));
  CHECK(estimate.interval == "normal");
  CHECK(ShareFact::from_json(read.share(1).to_json()) == read.share(1));
}

TEST_CASE("a matrix of heads is drawn in the order of its tree, and written whole", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  const double no = std::nan("");
  RecordedAnalysis& analysis = record.analyses.begin()->second;
  analysis.matrices = {
      {.name = "cka", .similarity = true, .cut = 0.5, .rows = {{1}, {0.2, 1}, {0.9, 0.1, 1}, {no, no, no, 1}}}};
  CHECK(analysis.matrices[0].values()[2] == 0.9);
  CHECK(std::isnan(analysis.matrices[0].values()[7]));
  CHECK(analysis.matrices[0].distances()[2] == Approx(0.1));
  CHECK(matrix_labels(record) == std::vector<std::string>{"look"});
  const std::string file = matrices_safetensors(record, "look");
  const SafetensorsHeader header = parse_safetensors(file, "test");
  REQUIRE(header.tensors.size() == 1);
  CHECK(header.tensors[0].name == "seed1/cka");
  CHECK(header.tensors[0].shape == std::vector<int64_t>{4, 4});
  CHECK(header.metadata.at("headprune.heads") == "encoder.L0.H0 encoder.L0.H1 encoder.L1.H0 encoder.L1.H1");
  double second = 0;
  std::memcpy(&second, file.data() + header.data_start + header.tensors[0].begin + sizeof(double), sizeof(double));
  CHECK(second == 0.2);
  const std::vector<Figure> figures = cluster_figures(record);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].file == "clusters-look.svg");
  const std::string tree = figures[0].document(), map = figures[1].document();
  // H0 and L1.H0 are near, so they stand together; the head that cannot be compared has no branch.
  CHECK(tree.find("encoder.L0.H1") < tree.find("encoder.L0.H0"));
  CHECK(tree.find("encoder.L0.H0") < tree.find("encoder.L1.H0"));
  CHECK(tree.find("encoder.L1.H0") < tree.find("encoder.L1.H1"));
  const auto count = [](const std::string& text, const std::string& what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count(tree, "<polyline") == 2);
  CHECK(count(map, "v1h-1z") == 3);  // three pairs that can be compared
}

TEST_CASE("rows of a matrix follow each other, up to all heads", "[report][roles]") {
  std::vector<HeadMatrix> matrices;
  const MatrixRow first{.seed = 1, .analysis = "look", .matrix = "js", .cut = 0.7, .values = {0}};
  const MatrixRow read = MatrixRow::from_json(first.to_json());
  CHECK((read.matrix == "js" && read.cut == 0.7 && !read.similarity && read.values == first.values));
  add_row(matrices, first);
  CHECK_THROWS_WITH(add_row(matrices, first), ContainsSubstring("row 2 of matrix js of an analysis has 1 numbers"));
  CHECK_THROWS_WITH(require_whole(matrices, 2), ContainsSubstring("is of 1 heads, and the analysis of 2"));
  add_row(matrices, {.seed = 1, .analysis = "look", .matrix = "js", .values = {0.5, 0}});
  CHECK_NOTHROW(require_whole(matrices, 2));
  CHECK(matrices[0].values() == std::vector<double>{0, 0.5, 0.5, 0});
}

TEST_CASE("an analysis that is not complete is shown nowhere", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  record.analyses.begin()->second.done.reset();
  CHECK(role_rows(record).empty());
  CHECK(analysis_labels(record).empty());
  CHECK(role_agreement(record).empty());
}

TEST_CASE("seeds of one model are shown once, seeds that were trained each by itself", "[report][roles]") {
  Record trained = two_seeds();
  Record loaded = one_model_two_seeds();
  for (Record* record : {&trained, &loaded})
    for (const int64_t seed : {1, 2}) add_analysis(*record, seed);
  CHECK(role_rows(trained).size() == 4);
  CHECK(role_rows(loaded).size() == 2);
}

TEST_CASE("a sweep keeps so many heads of a role, beside what chance keeps", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  for (const RoleSurvival& row : role_survival(record)) {
    const PointResult& point = *row.point;
    CHECK(row.of == 2);
    int64_t kept = 2;
    for (const int64_t layer : {0, 1}) kept -= point.removed.contains({{Kind::encoder, layer}, 0}) ? 1 : 0;
    CHECK(row.kept == kept);
    CHECK(row.expected == Approx(2.0 * static_cast<double>(point.heads_total - point.spec.heads_removed) /
                                 static_cast<double>(point.heads_total)));
  }
  CHECK_FALSE(role_survival(record).empty());
  // One that may not go is kept for certain.
  for (auto& [id, point] : record.points)
    if (!point.spec.sweep.empty()) point.fixed = HeadSet({{{Kind::encoder, 0}, 0}}), point.heads_total = 3;
  for (const RoleSurvival& row : role_survival(record)) {
    if (row.point->spec.heads_removed > 3) continue;
    CHECK(row.expected == Approx(1 + static_cast<double>(3 - row.point->spec.heads_removed) / 3));
  }
  for (const auto& [id, point] : record.points)
    if (point.spec.heads_removed <= point.heads_total)
      CHECK(PointResult::from_json(point.to_json()).fixed == point.fixed);
  // A sweep over another kind cannot touch them.
  for (auto& [id, point] : record.points)
    if (!point.spec.sweep.empty()) point.spec.kind = "decoder";
  for (const RoleSurvival& row : role_survival(record)) CHECK(row.expected == 2);
}

TEST_CASE("roles agree with scores and with leave_one_out as Spearman says", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  // Scores in the order of the column for one method, against it for the other.
  for (auto& [key, score] : record.scores)
    for (auto& [id, block] : score.blocks)
      for (size_t h = 0; h < block.heads.size(); ++h) {
        const double value = record.analyses.at({1, "look"}).blocks.at(id).columns[0].values[h];
        block.scores[h] = key.method == "gradient_l1" ? 3 * value : -value;
      }
  const std::vector<RoleAgreement> rows = role_agreement(record);
  std::map<std::string, RoleAgreement> by;
  for (const RoleAgreement& row : rows) by[row.against] = row;
  REQUIRE(by.contains("gradient_l1"));
  REQUIRE(by.contains("output_l2"));
  REQUIRE(by.contains("leave_one_out"));
  CHECK(by["gradient_l1"].spearman == 1.0);
  CHECK(by["output_l2"].spearman == -1.0);
  CHECK_FALSE(by["gradient_l1"].ci_low);  // nothing is known of an interval at the end
  CHECK(by["gradient_l1"].n == 4);
  CHECK(*by["gradient_l1"].p == Approx(2.0 / 24));  // of 24 orders this one and its reverse
  CHECK(*by["gradient_l1"].q >= *by["gradient_l1"].p);
  CHECK_FALSE(by.contains("random"));
  // leave_one_out: what the headline metric loses, so that larger means that the head matters.
  for (auto& [id, point] : record.points) {
    if (point.spec.table != "leave_one_out") continue;
    const double value = record.analyses.at({1, "look"})
                             .blocks.at({Kind::encoder, *point.spec.layer})
                             .columns[0]
                             .values[static_cast<size_t>(*point.spec.head)];
    for (MetricResult& metric : point.metrics)
      if (metric.name == "accuracy") metric.difference->delta = -value;
  }
  for (const RoleAgreement& row : role_agreement(record))
    if (row.against == "leave_one_out") CHECK(row.spearman == 1.0);
}

TEST_CASE("the interval of a rank correlation is Bonett and Wright's", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  for (auto& [key, score] : record.scores) {
    score.blocks.at({Kind::encoder, 0}).scores = {4, 1};
    score.blocks.at({Kind::encoder, 1}).scores = {2, 3};
  }
  for (const RoleAgreement& row : role_agreement(record)) {
    if (row.against != "gradient_l1") continue;
    CHECK(row.spearman == Approx(0.8));  // ranks 4 1 3 2 against 4 1 2 3
    const double half = 1.959963984540054 * std::sqrt((1 + 0.32) / 1);
    CHECK(*row.ci_low == Approx(std::tanh(std::atanh(0.8) - half)));
    CHECK(*row.ci_high == Approx(std::tanh(std::atanh(0.8) + half)));
  }
}

TEST_CASE("in the picture each head stands under the rarest of its roles", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  AnalysisDone& done = *record.analyses.begin()->second.done;
  done.roles.push_back({.head = {{Kind::encoder, 0}, 0}, .role = "rare", .detail = "", .column = "weight"});
  const std::vector<Figure> figures = role_figures(record);
  REQUIRE(figures.size() == 1);
  const std::string svg = figures[0].document();
  // Of the two lookers one is counted as rare.
  CHECK_THAT(svg, ContainsSubstring("0 %, rare: 1") && ContainsSubstring("0 %, looker: 1") &&
                      ContainsSubstring("0 %, no role found: 2"));
}

TEST_CASE("the report has the section, and says what a role is not", "[report][roles]") {
  Record record = one_seed();
  add_analysis(record, 1);
  const ReportInput input{record, {}, {}, "", {}, role_agreement(record)};
  const std::string text = document_text(report_document(input), 100);
  for (const char* part : {"What heads do", "A head has a role where", "H0 (far, 0.900)", "Which roles survive",
                           "2 of 2 (2.0)", "looker (weight)"})
    CHECK_THAT(text, ContainsSubstring(part));
  CHECK_THAT(document_text(report_document({one_seed(), {}, {}, "", {}}), 100), !ContainsSubstring("What heads do"));
}
