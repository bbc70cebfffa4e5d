#include "record/events.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "record/json_fields.h"

namespace headprune {
namespace {

/// Where a score is of a model that a sweep has pruned; both or none.
std::pair<std::string, std::optional<int64_t>> read_sweep_step(const Json& json) {
  std::pair<std::string, std::optional<int64_t>> found = {read_or<std::string>(json, "sweep", ""),
                                                          read_optional<int64_t>(json, "step")};
  require_label(found.first, "sweep");
  if (found.first.empty() == found.second.has_value())
    fail(ExitCode::run_failed, "of the fields 'sweep' and 'step' one is missing");
  return found;
}

}  // namespace

Json measurement_json(double value) {
  if (std::isfinite(value)) return value;
  return {{"value", nullptr}, {"nonfinite", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

double read_measurement(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_object()) {
    const std::string word = read_field<std::string>(json, "nonfinite");
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
  }
  fail(ExitCode::run_failed, "a measurement is neither a number nor a non-finite one");
}

Json ScoreBlock::to_json() const {
  Json json = {{"seed", seed},         {"method", method}, {"draw", draw}, {"kind", to_string(block.kind)},
               {"layer", block.layer}, {"heads", heads}};
  json["scores"] = Json::array();
  for (double score : scores) json["scores"].push_back(measurement_json(score));
  json["stderr"] = Json::array();
  for (const auto& error : stderrs) json["stderr"].push_back(error ? measurement_json(*error) : Json());
  if (!halves[0].empty()) json["halves"] = Json(halves);
  json["n"] = n;
  write_text(json, "sweep", sweep);
  write_optional(json, "step", step);
  return json;
}

ScoreBlock ScoreBlock::from_json(const Json& json) {
  ScoreBlock block;
  block.seed = read_field<int64_t>(json, "seed");
  block.method = read_label(json, "method");
  block.draw = read_field<int64_t>(json, "draw");
  block.block = read_block(json);
  block.heads = read_heads(json, "heads");
  for (const Json& score : read_list(json, "scores")) block.scores.push_back(read_measurement(score));
  for (const Json& error : read_list(json, "stderr")) {
    block.stderrs.push_back(error.is_null() ? std::nullopt : std::optional(read_measurement(error)));
  }
  if (block.scores.size() != block.heads.size() ||
      (!block.stderrs.empty() && block.stderrs.size() != block.heads.size())) {
    fail(ExitCode::run_failed, "a score event has another number of scores than of heads");
  }
  if (json.contains("halves")) {
    block.halves = read_field<std::array<std::vector<double>, 2>>(json, "halves");
    for (const std::vector<double>& half : block.halves)
      if (half.size() != block.heads.size())
        fail(ExitCode::run_failed, "a score event has another number of scores of a half than of heads");
  }
  block.n = read_field<int64_t>(json, "n");
  std::tie(block.sweep, block.step) = read_sweep_step(json);
  return block;
}

Json ScoreDone::to_json() const {
  Json json = {{"seed", seed},           {"method", method},     {"draw", draw},
               {"direction", direction}, {"ties", ties},         {"examples", examples},
               {"forward", forward},     {"backward", backward}, {"dur_s", dur_s}};
  write_text(json, "sweep", sweep);
  write_optional(json, "step", step);
  return json;
}

ScoreDone ScoreDone::from_json(const Json& json) {
  ScoreDone done;
  done.seed = read_field<int64_t>(json, "seed");
  done.method = read_label(json, "method");
  done.draw = read_field<int64_t>(json, "draw");
  done.direction = read_field<std::string>(json, "direction");
  done.ties = read_field<int64_t>(json, "ties");
  done.examples = read_field<int64_t>(json, "examples");
  done.forward = read_field<int64_t>(json, "forward");
  done.backward = read_field<int64_t>(json, "backward");
  done.dur_s = read_field<double>(json, "dur_s");
  std::tie(done.sweep, done.step) = read_sweep_step(json);
  return done;
}

Json StageStart::to_json() const {
  Json json = {{"stage", stage}};
  write_optional(json, "seed", seed);
  return json;
}

StageStart StageStart::from_json(const Json& json) {
  return {read_field<std::string>(json, "stage"), read_optional<int64_t>(json, "seed")};
}

Json StageDone::to_json() const {
  Json json = {{"stage", stage}};
  write_optional(json, "seed", seed);
  json["dur_s"] = dur_s;
  json["forward"] = forward;
  json["backward"] = backward;
  return json;
}

StageDone StageDone::from_json(const Json& json) {
  return {read_field<std::string>(json, "stage"), read_optional<int64_t>(json, "seed"),
          read_field<double>(json, "dur_s"), read_field<int64_t>(json, "forward"),
          read_field<int64_t>(json, "backward")};
}

Json CheckpointEvent::to_json() const {
  return {{"seed", seed}, {"step", step}, {"path", path}, {"manifest_sha256", manifest_sha256}};
}

CheckpointEvent CheckpointEvent::from_json(const Json& json) {
  return {read_field<int64_t>(json, "seed"), read_field<int64_t>(json, "step"), read_field<std::string>(json, "path"),
          read_field<std::string>(json, "manifest_sha256")};
}

Json ModelEvent::to_json() const {
  return {{"seed", seed}, {"step", step}, {"path", path}, {"manifest_sha256", manifest_sha256}};
}

ModelEvent ModelEvent::from_json(const Json& json) {
  return {read_field<int64_t>(json, "seed"), read_field<int64_t>(json, "step"), read_field<std::string>(json, "path"),
          read_field<std::string>(json, "manifest_sha256")};
}

Json PointFailed::to_json() const { return {{"point", point}, {"reason", reason}, {"message", message}}; }

PointFailed PointFailed::from_json(const Json& json) {
  return {read_field<std::string>(json, "point"), read_field<std::string>(json, "reason"),
          read_field<std::string>(json, "message")};
}

Json PointSkipped::to_json() const { return {{"point", point}, {"reason", reason}}; }

PointSkipped PointSkipped::from_json(const Json& json) {
  return {read_field<std::string>(json, "point"), read_field<std::string>(json, "reason")};
}

Json SurgeryResult::to_json() const {
  return {{"point", point}, {"max_abs_diff", measurement_json(max_abs_diff)}, {"tolerance", tolerance}, {"ok", ok}};
}

SurgeryResult SurgeryResult::from_json(const Json& json) {
  return {read_field<std::string>(json, "point"), read_measurement(read_member(json, "max_abs_diff")),
          read_field<double>(json, "tolerance"), read_field<bool>(json, "ok")};
}

Json TimingResult::to_json() const {
  return {{"point", point},   {"form", form},      {"batch_size", batch_size}, {"sequence_length", sequence_length},
          {"warmup", warmup}, {"seconds", seconds}};
}

TimingResult TimingResult::from_json(const Json& json) {
  return {read_field<std::string>(json, "point"),
          read_field<std::string>(json, "form"),
          read_count(json, "batch_size"),
          read_count(json, "sequence_length"),
          read_count(json, "warmup"),
          read_field<std::vector<double>>(json, "seconds")};
}

Json Warning::to_json() const { return {{"code", code}, {"message", message}}; }

Warning Warning::from_json(const Json& json) {
  return {read_field<std::string>(json, "code"), read_field<std::string>(json, "message")};
}

Json InterruptedEvent::to_json() const { return {{"signal", signal}, {"stage", stage}}; }

InterruptedEvent InterruptedEvent::from_json(const Json& json) {
  return {read_field<std::string>(json, "signal"), read_field<std::string>(json, "stage")};
}

Json PointCounts::to_json() const {
  return {{"total", total}, {"done", done}, {"failed", failed}, {"skipped", skipped}};
}

PointCounts PointCounts::from_json(const Json& json) {
  return {read_count(json, "total"), read_count(json, "done"), read_count(json, "failed"), read_count(json, "skipped")};
}

Json RunDone::to_json() const { return {{"state", state}, {"points", points.to_json()}, {"dur_s", dur_s}}; }

RunDone RunDone::from_json(const Json& json) {
  return {read_field<std::string>(json, "state"), PointCounts::from_json(read_object(json, "points")),
          read_field<double>(json, "dur_s")};
}

}  // namespace headprune
