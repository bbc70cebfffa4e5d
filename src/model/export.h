// A pruned model as a folder that other tools open (docs/formats.md section 6).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/heads.h"
#include "model/export_form.h"

namespace headprune {

struct ExportRequest {
  std::filesystem::path model;  // model folder, maybe pruned before
  HeadSet removed;              // in addition to what the folder lacks already; ids are the original ones
  ExportForm form = ExportForm::compact;
  std::filesystem::path target;                 // must not exist
  std::map<std::string, std::string> metadata;  // of model.safetensors, beside what the source's has
  std::string type = {};                        // as read_model_folder()
};

struct ExportResult {
  int64_t heads = 0, intact_heads = 0;
  int64_t parameters = 0, intact_parameters = 0;
  double max_abs_diff = 0;         // logits of the written folder against the masked model
  int64_t texts = 0;               // that both models were let write, and wrote the same
  std::vector<std::string> notes;  // which tools load it, what they must know, what was not copied
};

/// Writes the folder with every file of the source that is no weight (model/other_files.h) and every key of config.json
/// that is not about what changed, reads it back, and compares its logits on fixed random sequences with those of the
/// source masked by gates, as headprune reads it and as a tool does that knows nothing of removed heads; where the
/// family writes texts, those too, and the settings that say how. Only then it gets its name. Throws Error: the target
/// exists, or the form cannot hold the model (usage), logits differ by more than 1e-5 times the largest, texts or
/// settings differ (run_failed), and whatever reading the source throws.
ExportResult export_model(const ExportRequest& request);

}  // namespace headprune
