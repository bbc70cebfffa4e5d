#include "model/hf_family.h"

#include "core/error.h"
#include "model/folder.h"
#include "model/grouping.h"

namespace headprune {
namespace {

ModelFolder folder_of_type(const std::filesystem::path& path, const std::string& model_type) {
  ModelFolder folder = read_model_folder(path, model_type);
  if (folder.model_type() != model_type)
    fail(ExitCode::run_failed, "{} holds a model of type {}; load it with that as model.type", path.string(),
         folder.model_type());
  return folder;
}

}  // namespace

CrossProblems HfFamily::Options::problems() const {
  if (init == ModelInit::load) return {};
  return {{"init", "a checkpoint is loaded (init: load); init: train is for model.type encoder and decoder"}};
}

Blocks HfFamily::blocks() const { return folder_of_type(options_.path, layout_->model_type()).blocks(); }

int64_t HfFamily::parameter_estimate(const ModelInput& /*input*/) const {
  return summarise_model_folder(options_.path, layout_->model_type()).parameters;
}

ModelLabels HfFamily::labels() const { return classifier_labels(folder_of_type(options_.path, layout_->model_type())); }

std::string HfFamily::cannot_convert() const {
  const std::string problem = holds_no_groups(*layout_);
  return problem.empty() ? lacks_heads(folder()) : problem;
}

std::shared_ptr<TransformerModel> HfFamily::build(const ModelInput& input) const {
  return build_loaded(folder(), input);
}

std::shared_ptr<TransformerModel> HfFamily::outline(const ModelInput& input) const {
  return outline_loaded(folder(), input);
}

Json HfFamily::loaded_sizes() const { return sizes_json(folder()); }

ModelFolder HfFamily::folder() const {
  ModelFolder found = folder_of_type(options_.path, layout_->model_type());
  if (options_.dropout) found.config.dropout = *options_.dropout;
  return found;
}

}  // namespace headprune
