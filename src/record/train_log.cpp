#include "record/train_log.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "record/events.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

Json row_json(const TrainRow& row) {
  Json json = {{"t", row.t}, {"attempt", row.attempt}, {"seed", row.seed}};
  write_text(json, "training", row.training);
  json["step"] = row.step;
  json["epoch"] = row.epoch;
  json["split"] = row.split;
  json["name"] = row.name;
  if (std::isfinite(row.value)) {
    json["value"] = row.value;
  } else {
    json.update(measurement_json(row.value));
  }
  return json;
}

TrainRow read_row(const Json& json) {
  TrainRow row;
  row.t = read_field<std::string>(json, "t");
  row.attempt = read_field<int64_t>(json, "attempt");
  row.seed = read_field<int64_t>(json, "seed");
  row.training = read_or<std::string>(json, "training", "");
  row.step = read_field<int64_t>(json, "step");
  row.epoch = read_field<double>(json, "epoch");
  row.split = read_field<std::string>(json, "split");
  row.name = read_field<std::string>(json, "name");
  const Json& value = read_member(json, "value");
  row.value = read_measurement(value.is_null() ? json : value);
  return row;
}

}  // namespace

TrainLog::TrainLog(const std::filesystem::path& run_folder, int64_t attempt)
    : log_(run_folder / kTrainLog), attempt_(attempt) {}

void TrainLog::append(TrainRow row) {
  row.t = utc_now();
  row.attempt = attempt_;
  log_.append(row_json(row), Durable::no);
  log_.require_in_place();
}

std::vector<TrainRow> read_train_log(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / kTrainLog;
  std::vector<TrainRow> rows;
  for (const Json& line : read_framed(path).lines) {
    try {
      rows.push_back(read_row(line));
    } catch (const Error& error) {
      fail(ExitCode::run_failed, "{}:{}: bad line: {}", path.string(), rows.size() + 1, error.what());
    }
  }
  std::map<std::pair<int64_t, std::string>, std::map<int64_t, int64_t>> first_steps;  // of a training, by attempt
  for (const TrainRow& row : rows) {
    const auto [entry, added] = first_steps[{row.seed, row.training}].try_emplace(row.attempt, row.step);
    if (!added) entry->second = std::min(entry->second, row.step);
  }
  std::erase_if(rows, [&](const TrainRow& row) {
    const auto& attempts = first_steps[{row.seed, row.training}];
    return std::any_of(attempts.upper_bound(row.attempt), attempts.end(),
                       [&](const auto& later) { return row.step >= later.second; });
  });
  return rows;
}

}  // namespace headprune
