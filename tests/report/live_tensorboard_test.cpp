#include "report/tensorboard/live_tensorboard.h"

#include "report/fixture.h"
#include "report/stored_run.h"
#include "report/tensorboard/tensorboard.h"
#include "support/catch.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

TrainRow row(int64_t seed, int64_t step, double value) {
  TrainRow one;
  one.seed = seed;
  one.step = step;
  one.split = "train";
  one.name = "loss";
  one.value = value;
  return one;
}

/// All event files below a folder, joined in the order of their names.
std::string events_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string bytes;
  for (const fs::path& file : files) bytes += read_file(file);
  return bytes;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// SessionLog START, as the last field of an event.
const std::string kStart = "\x3a\x02\x08\x01";

}  // namespace

TEST_CASE("training is in tb/ as soon as it is measured, results at the end", "[tensorboard]") {
  const TestFolder folder;
  const fs::path run = folder / "toy";
  store_run(run, one_seed());
  LiveTensorBoard live(run, /*several_seeds=*/false, 1);
  CHECK(count(events_in(run / "tb"), kStart) == 1);
  live.add(row(1, 10, 0.5));
  CHECK(count(events_in(run / "tb"), "train/loss") == 1);
  CHECK(count(events_in(run / "tb"), "sweep/gradient_l1/one_shot/accuracy") == 0);
  live.finish(read_report_input(run, read_record(run)));
  const Record record = read_record(run);
  EventFile expected(0);
  expected.take();
  add_results(expected, read_report_input(run, record));
  const std::string written = events_in(run / "tb");
  CHECK(written.substr(written.size() - expected.bytes().size()) == expected.bytes());
  CHECK(count(written, kStart) == 1);
}

TEST_CASE("a later attempt repeats what was measured, and drops what training forgot", "[tensorboard]") {
  const TestFolder folder;
  const fs::path run = folder / "toy";
  store_run(run, one_seed());
  TrainLog log(run, 1);
  for (const int64_t step : {10, 20, 30}) log.append(row(1, step, 0.5));
  LiveTensorBoard live(run, /*several_seeds=*/false, 2);
  CHECK(count(events_in(run / "tb"), "train/loss") == 3);
  CHECK(count(events_in(run / "tb"), kStart) == 1);
  live.add(row(1, 20, 0.4));  // back at the checkpoint of step 10
  live.add(row(1, 30, 0.3));
  CHECK(count(events_in(run / "tb"), "train/loss") == 5);
  CHECK(count(events_in(run / "tb"), std::string("\x10\x14") + kStart) == 1);  // START at step 20
  CHECK(count(events_in(run / "tb"), kStart) == 2);
}

TEST_CASE("seeds have logs of their own", "[tensorboard]") {
  const TestFolder folder;
  const fs::path run = folder / "toy";
  store_run(run, two_seeds());
  LiveTensorBoard live(run, /*several_seeds=*/true, 1);
  for (const int64_t seed : {0, 2}) live.add(row(seed, 10, 0.5));
  live.finish(read_report_input(run, read_record(run)));
  CHECK(count(events_in(run / "tb/seed-0"), "train/loss") == 1);
  CHECK(count(events_in(run / "tb/seed-2"), "train/loss") == 1);
  CHECK(count(events_in(run / "tb"), "train/loss") == 0);
  CHECK(count(events_in(run / "tb"), "custom_scalars__config__") == 1);
}

TEST_CASE("heads of several models have a picture each, masks and controls their values", "[tensorboard]") {
  const TestFolder folder;
  const auto results = [&](const char* name, const Record& record) {
    store_run(folder / name, record);
    EventFile file(0);
    add_results(file, read_report_input(folder / name, read_record(folder / name)));
    return file.bytes();
  };
  const std::string both = results("both", two_seeds());
  for (const char* seed : {"seed-1/", "seed-2/"})
    CHECK(count(both, std::string(seed) + "importance/heatmap/gradient_l1") == 1);
  Record record = one_seed();
  PointSpec mask = sweep_spec(1, "", 0, 1), control;
  mask.draw.reset();
  mask.sweep = mask.rule = "from_file";
  mask.name = "no_first";
  record.points["m"] = point("m", mask, {0.7, 0.5, -0.2, 0.01});
  control.seed = 1;
  control.sweep = control.rule = "one_shot";
  control.control_steps = 40;
  record.points["c"] = point("c", control, {0.93, 0.4, 0.03, 0.5});
  const std::string one = results("one", record);
  CHECK(count(one, "seed-1/importance") == 0);
  CHECK(count(one, "importance/heatmap/gradient_l1") == 1);
  CHECK(count(one, "mask/from_file/no_first/accuracy_lo") == 1);
  CHECK(count(one, "control/one_shot/accuracy_lo") == 1);
}
