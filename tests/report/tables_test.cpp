#include "report/tables/tables.h"

#include <fmt/format.h>

#include <sstream>

#include "report/fixture.h"
#include "report/tables/sensitivity_tables.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The run behind the examples of docs/formats.md section 8: 16 heads, 1821 examples.
Record example_run() {
  Record record;
  PointSpec none;
  none.seed = 1;
  none.rule = "none";
  PointResult base;
  base.spec = none;
  base.metrics = {{"accuracy", {0.8105436573311368, 1821, 0.0092, {}, "wilson"}, {}}};
  record.points["0000000000000001"] = base;
  return record;
}

}  // namespace

TEST_CASE("curve.csv has the columns of docs/formats.md section 8", "[tables]") {
  Record record = example_run();
  PointResult point;
  point.spec = sweep_spec(1, "gradient_l1", 0, 4);
  point.step = 1;
  point.scope = "global";
  point.fraction = 0.25;
  point.heads_total = 16;
  point.params = 181506;
  point.attention_flops_per_token = 98304;
  point.forward = point.backward = 217;
  point.split = "report";
  MetricResult metric;
  metric.name = "accuracy";
  metric.estimate = {0.7814387699066447, 1821, 0.009687201786787098, {}, "wilson"};
  metric.estimate.ci95 = {0.7618756985883023, 0.7998169323224441};
  metric.difference = Difference{-0.029104887424492038, 0.006713497401679117, {}, 0.000019287321486034632, "mcnemar"};
  metric.difference->ci95 = {-0.04226310054208634, -0.015946674306897737};
  point.metrics = {metric};
  record.points["9f2c4e1ab07d35c8"] = point;
  // The p is written as the one call for doubles writes it.
  CHECK(
      curve_csv(record) ==
      "seed,method,draw,sweep,rule,scope,kind,at_step,name,step,fraction,heads_removed,heads_total,split,metric,value,"
      "stderr,"
      "ci_low,ci_high,n,base,delta,delta_stderr,delta_ci_low,delta_ci_high,p,q,params,attention_flops_per_token,"
      "kv_cache_bytes_per_token,forward,backward,point\n"
      "1,gradient_l1,0,one_shot,one_shot,global,all,,,1,0.25,4,16,report,accuracy,0.7814387699066447,"
      "0.009687201786787098,0.7618756985883023,0.7998169323224441,1821,0.8105436573311368,-0.029104887424492038,"
      "0.006713497401679117,-0.04226310054208634,-0.015946674306897737,1.9287321486034632e-05,1.9287321486034632e-05,"
      "181506,98304,,217,217,"
      "9f2c4e1ab07d35c8\n");
}

TEST_CASE("curve.csv compares a point of an earlier step with the unpruned model of that step", "[tables]") {
  Record record = one_seed();
  add_earlier_sweep(record, 10);
  CHECK_THAT(curve_csv(record),
             ContainsSubstring("1,gradient_l1,0,early,one_shot,global,all,10,,1,0.5,2,4,report,accuracy,0.58,0.01,") &&
                 ContainsSubstring(",100,0.6,-0.02,"));
}

TEST_CASE("sensitivity.csv has the columns of docs/formats.md section 8, with its q", "[tables]") {
  Record record = example_run();
  // The example's p is the tenth smallest of 16; the larger ones are 1, so that q = p * 16 / 10.
  for (int64_t i = 0; i < 16; ++i) {
    PointResult point;
    point.spec.seed = 1;
    point.spec.table = "leave_one_out";
    point.spec.kind = "encoder";
    point.spec.layer = 3 - i / 4;
    point.spec.head = (2 + i) % 4;
    point.spec.heads_removed = 1;
    point.fraction = 0.0625;
    point.heads_total = 16;
    point.split = "report";
    MetricResult metric;
    metric.name = "accuracy";
    metric.estimate = {0.8066996155958265, 1821, 0.009256282268002085, {}, "wilson"};
    metric.estimate.ci95 = {0.7879245870862459, 0.8241833824038065};
    const double p = i == 0 ? 0.41875418826901556 : i < 10 ? 0.01 * static_cast<double>(i) : 1.0;
    metric.difference = Difference{-0.003844041735310269, 0.004071600279222751, {}, p, "mcnemar"};
    metric.difference->ci95 = {-0.011824231642030088, 0.004136148171409551};
    point.metrics = {metric};
    record.points[i == 0 ? "03ab77d1c25e9f40" : fmt::format("f{:015}", i)] = point;
  }
  const std::vector<std::string> lines = lines_of(sensitivity_csv(record));
  REQUIRE(lines.size() == 17);
  CHECK(lines[0] ==
        "seed,table,method,draw,kind,layer,head,group,fraction,heads_removed,heads_total,split,metric,value,stderr,ci_"
        "low,"
        "ci_high,n,base,delta,delta_stderr,delta_ci_low,delta_ci_high,p,q,point");
  CHECK(lines[15] ==
        "1,leave_one_out,,,encoder,3,2,,0.0625,1,16,report,accuracy,0.8066996155958265,0.009256282268002085,"
        "0.7879245870862459,0.8241833824038065,1821,0.8105436573311368,-0.003844041735310269,0.004071600279222751,"
        "-0.011824231642030088,0.004136148171409551,0.41875418826901556,0.6700067012304249,03ab77d1c25e9f40");
}

TEST_CASE("tables of groups of heads say so", "[tables]") {
  Record record = one_seed();
  for (auto& [id, point] : record.points) {
    std::swap(point.spec.head, point.spec.group);
    if (point.spec.table == "all_but_one") point.kept_head.reset(), point.kept_group = 1;
  }
  const std::vector<PointGroup> groups = sensitivity_groups(record);
  std::map<std::string, std::string> titles, rows;
  for (const SensitivityTable& table : sensitivity_tables(groups)) {
    titles[table.name] = table_title(table);
    for (const auto& row : sensitivity_rows(table, "accuracy"))
      for (const std::string& cell : row) rows[table.name] += cell + "|";
  }
  CHECK(titles.at("leave_one_out") == "each group of heads removed alone");
  CHECK_THAT(rows.at("leave_one_out"), ContainsSubstring("G1 |"));
  CHECK(titles.at("all_but_one") == "a block's groups of heads removed but one, chosen on the select split");
  CHECK_THAT(rows.at("all_but_one"), ContainsSubstring("|G1|"));
  CHECK(titles.at("layer_removed") == "all heads of one block removed");
  CHECK_THAT(sensitivity_csv(record), ContainsSubstring("1,leave_one_out,,,encoder,0,,1,0.25,1,4,") &&
                                          ContainsSubstring("1,all_but_one,,,encoder,0,,1,"));
}

TEST_CASE("q is a family of its own for each table, metric and seed", "[tables]") {
  const std::string text = sensitivity_csv(two_seeds());
  // Seed 1: p = 0.001, 0.02, 1, 1; seed 2: 0.001, 1, 1, 1. Two blocks of 0.04 each give 0.04. Loss has no test.
  CHECK_THAT(text, ContainsSubstring("1,leave_one_out,,,encoder,0,1,,0.25,1,4,report,accuracy,0.7,0.01,"));
  CHECK_THAT(text, ContainsSubstring(",0.001,0.004,0000000000000"));
  CHECK_THAT(text, ContainsSubstring(",0.02,0.04,000000000000000d\n"));
  CHECK_THAT(text,
             ContainsSubstring("2,layer_removed,,,encoder,1,,,1.0,2,2,report,loss,0.8999999999999999,,,,100,0.7,,,"
                               ",,,,0000000000000024\n"));
  CHECK_THAT(text, ContainsSubstring(",0.04,0.04,0000000000000024\n"));
}

TEST_CASE("scores.csv has one row a head with its place in the order", "[tables]") {
  CHECK(scores_csv(one_seed()) ==
        "seed,method,draw,kind,layer,head,score,stderr,order,n\n"
        "1,gradient_l1,0,encoder,0,0,1.0,0.5,0,400\n"
        "1,gradient_l1,0,encoder,0,1,4.0,,3,400\n"
        "1,gradient_l1,0,encoder,1,0,2.0,0.5,1,400\n"
        "1,gradient_l1,0,encoder,1,1,3.0,,2,400\n"
        "1,output_l2,0,encoder,0,0,1.0,,0,400\n"
        "1,output_l2,0,encoder,0,1,3.0,,2,400\n"
        "1,output_l2,0,encoder,1,0,2.0,,1,400\n"
        "1,output_l2,0,encoder,1,1,4.0,,3,400\n");
}

TEST_CASE("ties in the order break by kind, layer and head", "[tables]") {
  RecordedScore score;
  score.done = ScoreDone();
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    ScoreBlock& block = score.blocks[{kind, 0}];
    block.heads = {1, 0};
    block.scores = {5, 5};
  }
  const std::map<HeadId, int64_t> order = removal_order(score);
  CHECK(order.at({{Kind::encoder, 0}, 0}) == 0);
  CHECK(order.at({{Kind::encoder, 0}, 1}) == 1);
  CHECK(order.at({{Kind::decoder, 0}, 0}) == 2);
  score.done.reset();
  CHECK(removal_order(score).empty());
}

TEST_CASE("re-scores inside a sweep stay out of scores.csv", "[tables]") {
  Record record = one_seed();
  record.scores[{1, "gradient_l1", 0, "iterative", 2}] = record.scores.begin()->second;
  CHECK(scores_csv(record) == scores_csv(one_seed()));
}

TEST_CASE("timing.csv gives seconds and rates of every form", "[tables]") {
  // 3 / {0.06, 0.04, 0.05} = {50, 75, 60}: mean 61.6667, sample sd 12.5831, over sqrt(3) 7.26483.
  const std::vector<std::string> lines = lines_of(timing_csv(one_seed()));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] ==
        "seed,method,draw,sweep,rule,form,point,fraction,heads_removed,heads_total,device,threads,batch_size,"
        "sequence_length,metric,value,stderr,median,min,max,n,warmup");
  CHECK_THAT(lines[1], ContainsSubstring("1,,,,none,intact,0000000000000001,0.0,0,4,cpu,1,3,64,examples_per_second,61."
                                         "666666666666664,7.264831572"));
  CHECK_THAT(lines[1], ContainsSubstring(",60.0,50.0,75.0,3,2"));
  CHECK_THAT(lines[2], ContainsSubstring(",seconds_per_batch,0.05"));
  CHECK_THAT(lines[4],
             ContainsSubstring("1,gradient_l1,0,one_shot,one_shot,removed,0000000000000003,0.5,2,4,cpu,1,3,64,"
                               "seconds_per_batch,0.02"));
  CHECK_THAT(lines[4], ContainsSubstring(",0.025,0.02,0.03,4,2"));
}

TEST_CASE("an intact timing belongs to the unpruned point, whichever mask it was taken for", "[tables]") {
  Record record = one_seed();
  record.timing.clear();
  const std::string half = "0000000000000003";
  record.timing[{half, "intact", 1, 64}] = {half, "intact", 1, 64, 2, {0.5, 0.5}};
  CHECK_THAT(
      timing_csv(record),
      ContainsSubstring("\n1,,,,none,intact,0000000000000001,0.0,0,4,cpu,1,1,64,seconds_per_batch,0.5,0.0,0.5,0.5,"
                        "0.5,2,2\n"));
}

TEST_CASE("a record without measurements gives the headers alone", "[tables]") {
  const Record empty;
  for (const std::string& text :
       {scores_csv(empty), curve_csv(empty), sensitivity_csv(empty), agreement_csv({}), timing_csv(empty)}) {
    CHECK(lines_of(text).size() == 1);
  }
}

TEST_CASE("an unfinished score has rows without an order", "[tables]") {
  Record record = one_seed();
  for (auto& [key, score] : record.scores) {
    score.done.reset();
    score.blocks.erase({Kind::encoder, 1});
  }
  CHECK_THAT(scores_csv(record), ContainsSubstring("1,gradient_l1,0,encoder,0,1,4.0,,,400\n"));
}

TEST_CASE("a value that is not finite is written in words", "[tables]") {
  Record record = one_seed();
  record.points.at("0000000000000003").metrics[1].estimate.value = std::nan("");
  CHECK_THAT(curve_csv(record), ContainsSubstring(",loss,nan,,,,100,0.5,"));
}
