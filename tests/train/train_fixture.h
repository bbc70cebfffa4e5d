// What the tests of training share: a request over the tiny model, and what came of it.
#pragma once

#include <unistd.h>

#include <random>

#include "core/log.h"
#include "support/folder.h"
#include "support/tiny_models.h"
#include "train/trainer.h"

namespace headprune {

/// One training and everything it reported.
struct TrainRun {
  explicit TrainRun(TrainOptions chosen, double dropout = 0, std::vector<Example> examples = six_examples())
      : model(dropout), dataset(tiny_dataset(examples)), options(chosen) {
    set_log_level(LogLevel::off);
  }

  TrainResult run() {
    return train({.model = model,
                  .task = task,
                  .dataset = dataset,
                  .options = options,
                  .removed = removed,
                  .gates = gates,
                  .folder = folder,
                  .optimizer_from = optimizer_from,
                  .seed = 5,
                  .config_yaml = "name: test\n",
                  .evaluate = evaluate,
                  .sink =
                      [this](const TrainPoint& point) {
                        points.push_back(point);
                        if (on_point) on_point(point);
                      },
                  .on_checkpoint = [this](const SavedCheckpoint& saved) { checkpoints.push_back(saved); },
                  .on_warning = [this](const std::string& text) { warnings.push_back(text); }});
  }
  std::vector<double> values(const std::string& split, const std::string& name) const {
    std::vector<double> found;
    for (const TrainPoint& point : points)
      if (point.split == split && point.name == name) found.push_back(point.value);
    return found;
  }

  TinyModel model;
  TinyTask task;
  Dataset dataset;
  TrainOptions options;
  HeadSet removed;
  GateTraining gates;
  fs::path folder, optimizer_from;
  bool evaluate = true;
  std::function<void(const TrainPoint&)> on_point;
  std::vector<TrainPoint> points;
  std::vector<SavedCheckpoint> checkpoints;
  std::vector<std::string> warnings;
};

inline bool same_weights(const Model& a, const Model& b) {
  const NamedTensors first = state(a), second = state(b);
  if (first.size() != second.size()) return false;
  for (const auto& [name, tensor] : first)
    if (!second.contains(name) || !torch::equal(tensor, second.at(name))) return false;
  return true;
}

}  // namespace headprune
