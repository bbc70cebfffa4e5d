#include "record/train_log.h"

#include <cmath>

#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;

namespace {

TrainRow row(int64_t seed, int64_t step, double value) { return {"", 0, seed, step, 0.5, "train", "loss", value}; }

}  // namespace

TEST_CASE("rows of an older attempt past the next attempt's start are superseded", "[record]") {
  const TestFolder folder;
  {
    TrainLog log(folder.path(), 1);
    for (int64_t step : {10, 20, 30, 40}) log.append(row(1, step, 1.0));
    log.append(row(2, 30, 1.0));
  }
  {
    TrainLog log(folder.path(), 2);
    for (int64_t step : {30, 40, 50}) log.append(row(1, step, 2.0));
  }
  {
    TrainLog log(folder.path(), 3);
    log.append(row(1, 50, 3.0));
  }
  std::vector<std::pair<int64_t, double>> seed_1;
  int64_t seed_2 = 0;
  for (const TrainRow& kept : read_train_log(folder.path())) {
    if (kept.seed == 1) seed_1.emplace_back(kept.step, kept.value);
    seed_2 += kept.seed == 2 ? 1 : 0;
  }
  CHECK(seed_1 == std::vector<std::pair<int64_t, double>>{{10, 1.0}, {20, 1.0}, {30, 2.0}, {40, 2.0}, {50, 3.0}});
  CHECK(seed_2 == 1);  // other seeds go their own way
}

TEST_CASE("a training row keeps every field, non-finite losses too", "[record]") {
  const TestFolder folder;
  CHECK(read_train_log(folder.path()).empty());
  TrainLog log(folder.path(), 1);
  log.append({"", 0, 1, 200, 0.25, "select", "accuracy", 0.75});
  log.append({"", 0, 1, 201, 0.25, "train", "loss", NAN});
  const std::vector<TrainRow> rows = read_train_log(folder.path());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].attempt == 1);
  CHECK(rows[0].t.size() == 24);
  CHECK(rows[0].epoch == 0.25);
  CHECK(rows[0].split == "select");
  CHECK(rows[0].name == "accuracy");
  CHECK(rows[0].value == 0.75);
  CHECK(std::isnan(rows[1].value));
}

TEST_CASE("trainings inside sweeps supersede their own rows alone", "[record]") {
  const TestFolder folder;
  {
    TrainLog log(folder.path(), 1);
    log.append({"", 0, 1, 10, 0.1, "train", "loss", 1});
    log.append({"", 0, 1, 5, 0.1, "train", "loss", 2, "hard_concrete/lambda_0.1"});
    log.append({"", 0, 1, 10, 0.1, "train", "loss", 3, "hard_concrete/lambda_0.1"});
  }
  TrainLog(folder.path(), 2).append({"", 0, 1, 10, 0.1, "train", "loss", 4, "hard_concrete/lambda_0.1"});
  const std::vector<TrainRow> rows = read_train_log(folder.path());
  REQUIRE(rows.size() == 3);
  CHECK((rows[0].value == 1 && rows[0].training.empty()));
  CHECK((rows[1].value == 2 && rows[1].training == "hard_concrete/lambda_0.1"));
  CHECK(rows[2].value == 4);
}
