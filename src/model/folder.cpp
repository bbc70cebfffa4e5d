#include "model/folder.h"

#include <algorithm>

#include "config/dump.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/open_file.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "model/attention.h"
#include "model/blank.h"
#include "model/checkpoint.h"
#include "model/foreign_weights.h"
#include "model/hf_names.h"
#include "model/label_names.h"
#include "model/stored_heads.h"
#include "model/weight_files.h"

namespace headprune {
namespace {

fs::path config_file(const ModelFolder& folder) { return folder.path / "config.json"; }

void require_weights(const fs::path& folder) {
  if (fs::exists(folder / kWeights) || fs::exists(folder / kIndex)) return;
  fail(ExitCode::run_failed, "{}: {}", folder.string(), foreign_weights(folder));
}

/// Those of headprune list every file with its hash; another tool's say nothing here.
void check_manifest(const fs::path& folder, bool ours) {
  if (!fs::exists(folder / "manifest.json")) return;
  if (!ours && !is_manifest(folder)) return;
  if (const std::string problem = verify_manifest(folder); !problem.empty())
    fail(ExitCode::run_failed, "{}: {}", folder.string(), problem);
}

/// Rows of the token table that the tokenizer has no ids for: padding to a round number, or another tokenizer.
void say_larger_table(const std::string& where, int64_t rows, int64_t tokens) {
  constexpr int64_t kMostPadding = 128;
  if (rows % 8 == 0 && rows - tokens < kMostPadding)
    log_info("[model] {}: the token table has {} rows and the tokenizer {} ids; the others are never read", where, rows,
             tokens);
  else
    log_warn(
        "[model] {}: the token table has {} rows and the tokenizer {} ids: is it the model's own tokenizer? The "
        "other rows are never read",
        where, rows, tokens);
}

/// One output is regression's.
[[noreturn]] void refuse_outputs(const ModelFolder& folder, const ModelInput& input) {
  const std::string where = folder.path.string();
  const int64_t outputs = folder.config.outputs;
  if (input.outputs == 1)
    fail(ExitCode::run_failed,
         "{}: the model has {} labels and task regression needs one output; use task classification, or a model with "
         "num_labels 1",
         where, outputs);
  if (outputs == 1)
    fail(ExitCode::run_failed,
         "{}: the model has one output, for regression, and the data {} labels; use task regression, or a model with "
         "that many labels",
         where, input.outputs);
  fail(
      ExitCode::run_failed,
      "{}: the model has {} labels and the data {}; use data with the labels that the model was trained with, or add a "
      "train section, which starts a new classifier",
      where, outputs, input.outputs);
}

/// A checkpoint without a task head for as many outputs gets one for these data, also in what config.json says.
void start_task_head(ModelFolder& folder, const ModelInput& input) {
  folder.config.outputs = input.outputs;
  folder.labels = input.labels;
  if (!folder.origin) return;
  Json config = folder.origin->config;
  config.erase("num_labels");
  config.erase("problem_type");
  if (input.outputs == 1) {
    folder.labels = {"LABEL_0"};  // as transformers names it: the number of names is what tells it the outputs
    config["problem_type"] = "regression";
  }
  folder.origin = std::make_shared<const HfOrigin>(HfOrigin{folder.origin->layout, std::move(config), folder.path});
}

void check_fit(const ModelFolder& folder, const ModelInput& input) {
  const TransformerConfig& saved = folder.config;
  const std::string where = folder.path.string();
  if (saved.vocabulary_size < input.vocabulary_size ||
      (!folder.origin && saved.vocabulary_size != input.vocabulary_size))
    fail(ExitCode::run_failed,
         "{}: the model has {} tokens and the tokenizer {}; use the data settings and the tokenizer that the model was "
         "trained with",
         where, saved.vocabulary_size, input.vocabulary_size);
  if (saved.vocabulary_size > input.vocabulary_size)
    say_larger_table(where, saved.vocabulary_size, input.vocabulary_size);
  if (saved.target_vocabulary_size != input.target_vocabulary_size)
    fail(ExitCode::run_failed,
         "{}: the model has {} tokens of the target and the tokenizer {} (0: the same as those of the source); use the "
         "vocabulary that the model was trained with",
         where, saved.target_vocabulary_size, input.target_vocabulary_size);
  if (saved.architecture == Architecture::encoder && saved.outputs != input.outputs) refuse_outputs(folder, input);
  if (saved.positions == Positions::learned && saved.max_length < input.max_length)
    fail(
        ExitCode::run_failed,
        "{}: the model has {} positions and the data sequences of {} tokens; set data.max_length (data.context_length) "
        "to at most {}",
        where, saved.max_length, input.max_length, saved.max_length);
  if (saved.positions == Positions::rotary && saved.max_length > 0 && saved.max_length < input.max_length)
    log_warn(
        "[model] {}: the model was trained for texts of at most {} tokens (max_position_embeddings), and the data have "
        "one of {}: what it makes of the positions beyond may be of no use",
        where, saved.max_length, input.max_length);
  require_label_order({.names = folder.labels, .where = config_file(folder).string()}, input.labels);
}

/// What an export states of heads is not what the intact model had, which stands beside it.
void restore_intact_heads(const HfLayout& layout, Json& json) {
  if (!json.contains("headprune") || !json["headprune"].is_object()) return;
  const Json intact = json["headprune"].value("intact", Json::object());
  const Json keys = layout.head_keys(HeadLayout());  // named: items() would outlive a temporary
  for (const auto& [key, unused] : keys.items())
    if (intact.contains(key)) json[key] = intact[key];
}

/// Of a folder that keeps places for heads that are gone.
HeadSet empty_heads(const ModelFolder& folder, const Json& json, const std::string& where) {
  if (!json.contains("headprune") || !json["headprune"].contains("form")) return {};
  const Json& word = json["headprune"]["form"];
  const auto form = word.is_string() ? enum_value<ExportForm>(word.get<std::string>()) : std::nullopt;
  if (!form)
    fail(ExitCode::run_failed,
         "{}: headprune.form is {}; the file is damaged, or a later version of headprune wrote it", where,
         dump_json(word));
  if (form == ExportForm::zeroed) return folder.removed;
  if (form != ExportForm::padded) return {};
  if (const auto padding = padding_heads(folder.config, folder.removed, folder.stored)) return *padding;
  fail(ExitCode::run_failed,
       "{}: {} heads in {} groups have no room for those that headprune.removed leaves; the file is damaged", where,
       folder.stored.heads, folder.stored.groups);
}

}  // namespace

std::vector<InputFile> model_inputs(const fs::path& folder) {
  std::vector<fs::path> files = weight_files(folder);
  files.insert(files.begin(), folder / "config.json");
  for (fs::path& file : tokenizer_files(folder)) files.push_back(std::move(file));
  std::vector<InputFile> inputs;
  for (const fs::path& file : files) inputs.push_back({"model." + file.filename().string(), file});
  return inputs;
}

bool is_model_folder(const fs::path& path) { return fs::is_regular_file(path / "config.json"); }

ModelFolder read_model_folder(const fs::path& path, const std::string& type) {
  if (!fs::is_directory(path))
    fail(ExitCode::usage, "{} is not a folder; give the folder of a saved model", path.string());
  if (!is_model_folder(path))
    fail(ExitCode::run_failed, "{} has no config.json; give the folder of a saved model, such as RUN/model",
         path.string());
  // First: a folder of another tool's format has a config.json of its own kind too.
  require_weights(path);
  const std::string where = (path / "config.json").string();
  Json json = read_json(path / "config.json");
  if (json.is_object() && model_type_of(json).empty() && !type.empty())
    json["model_type"] = find_layout(type) ? type : "headprune_" + type;
  refuse_quantised(json, where);
  ModelFolder folder;
  folder.path = path;
  if (const auto layout = find_layout(model_type_of(json))) {
    folder.stored = layout->sizes(HfConfig(json, where)).layout();
    restore_intact_heads(*layout, json);
    folder.config = layout->sizes(HfConfig(json, where));
    folder.origin = std::make_shared<const HfOrigin>(HfOrigin{layout, json, path});
  } else {
    folder.config = config_from_json(json, where);
    folder.stored = folder.config.layout();
  }
  folder.removed = removed_from_json(json, folder.config, where);
  if (!folder.removed.empty()) folder.empty = empty_heads(folder, json, where);
  if (folder.config.architecture == Architecture::encoder) folder.labels = labels_from_json(json, where);
  check_manifest(path, !folder.origin || json.contains("headprune"));
  return folder;
}

std::string ModelFolder::model_type() const {
  return origin ? origin->layout->model_type() : headprune::model_type(config.architecture);
}

namespace {

/// Tensors of the folder's files under the names of a model that has all their heads.
NamedTensors named_tensors(const ModelFolder& folder, const TransformerModel& model, NamedTensors file,
                           bool new_task_head) {
  if (!folder.origin) {
    if (new_task_head)
      for (const auto& [name, tensor] : state(model))
        if (name.starts_with("head.")) file[name] = tensor;
    return file;
  }
  return from_hf_tensors(*folder.origin->layout, model, file, {folder.path.string(), new_task_head});
}

/// Heads that are left out must give nothing: training elsewhere makes any head give something.
void require_empty(const ModelFolder& folder, TransformerModel& stored) {
  const Blocks blocks = stored.blocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    Attention& attention = stored.attention(i);
    const int64_t width = attention.value_width();
    for (const int64_t head : folder.empty.in_block(blocks[i].id)) {
      const torch::Tensor columns = attention.output().weight.narrow(1, head * width, width);  // [C, Dv]
      if (!columns.is_meta() && columns.count_nonzero().item<int64_t>() > 0)
        fail(ExitCode::run_failed,
             "{}: {} is removed and gives something all the same (another program trained the folder since?); delete "
             "the key headprune from config.json, which makes it a model of {} heads a layer",
             folder.path.string(), to_string(HeadId{blocks[i].id, head}), folder.stored.heads);
    }
  }
}

/// Tensors of the folder's files under the names of the model, without heads that are only there to fill up.
NamedTensors as_ours(const ModelFolder& folder, const TransformerModel& model, NamedTensors file, bool new_task_head) {
  if (folder.empty.empty()) return named_tensors(folder, model, std::move(file), new_task_head);
  const torch::NoGradGuard no_grad;
  const auto stored = make_transformer(with_layout(folder.config, folder.stored));
  NamedTensors places = state(*stored);
  if (new_task_head)  // which `model` has
    for (const auto& [name, tensor] : state(model))
      if (places.at(name).sizes() == tensor.sizes()) places.at(name).set_data(tensor.detach());
  const NamedTensors found = named_tensors(folder, *stored, std::move(file), new_task_head);
  check_state(*stored, found, folder.path.string());
  for (const auto& [name, tensor] : found) places.at(name).set_data(tensor);
  require_empty(folder, *stored);
  stored->remove_heads(folder.empty);
  return state(*stored);
}

}  // namespace

void load_weights(const ModelFolder& folder, TransformerModel& model, bool new_task_head) {
  NamedTensors tensors = as_ours(folder, model, read_weights(folder.path), new_task_head);
  require_finite(tensors, folder.path.string());
  take_state(model, std::move(tensors), folder.path.string());
}

namespace {

/// Whether the weights hold the whole task head of the layout.
bool has_task_head(const ModelFolder& folder) {
  std::vector<std::string> in_files;
  for (const fs::path& file : weight_files(folder.path))
    for (const TensorInfo& tensor : read_safetensors_header(file).tensors) in_files.push_back(tensor.name);
  const HfLayout& layout = *folder.origin->layout;
  const HfNames names = find_names(layout, folder.config, in_files, folder.path.string());
  const std::vector<HfTensor> tensors = layout.tensors(folder.config);
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const HfTensor& tensor) { return !tensor.task_head || names.files.contains(tensor.name); });
}

/// On the CPU, without weights yet.
std::shared_ptr<TransformerModel> empty_model(const ModelFolder& folder) {
  const auto model = make_transformer(folder.config, folder.removed);
  model->set_origin(folder.origin);
  model->set_labels(folder.labels);
  return model;
}

/// For weights that come before anything else.
std::shared_ptr<TransformerModel> unfilled_model(const ModelFolder& folder) {
  const MadeBlank unfilled(Blank::without_values);
  return empty_model(folder);
}

/// Labels of data that the classifier has no outputs for: another number of them.
bool other_labels(const ModelFolder& folder, const ModelInput& input) {
  return folder.config.architecture == Architecture::encoder && folder.config.outputs > 1 && input.outputs > 1 &&
         folder.config.outputs != input.outputs;
}

}  // namespace

ModelLabels classifier_labels(const ModelFolder& folder) {
  if (folder.config.architecture != Architecture::encoder || (folder.origin && !has_task_head(folder))) return {};
  ModelLabels labels{.names = folder.labels, .where = config_file(folder).string()};
  // Numbers are all that it calls them.
  for (auto i = static_cast<int64_t>(labels.names.size()); i < folder.config.outputs; ++i)
    labels.names.push_back(fmt::format("LABEL_{}", i));
  return labels;
}

std::shared_ptr<TransformerModel> load_model(const ModelFolder& folder, torch::Device device) {
  const auto model = unfilled_model(folder);
  load_weights(folder, *model);
  model->to(device);
  model->eval();
  return model;
}

namespace {

/// Makes the folder one for these data, or refuses it. True where the task head is a new one.
bool fit(ModelFolder& folder, const ModelInput& input) {
  const bool new_task_head = input.trains && (other_labels(folder, input) || (folder.origin && !has_task_head(folder)));
  if (new_task_head) start_task_head(folder, input);
  check_fit(folder, input);
  return new_task_head;
}

}  // namespace

std::shared_ptr<TransformerModel> outline_loaded(ModelFolder folder, const ModelInput& input) {
  const bool new_task_head = fit(folder, input);
  const WithoutMemory outline;
  const auto model = empty_model(folder);
  check_state(*model, as_ours(folder, *model, read_weight_outlines(folder.path), new_task_head), folder.path.string());
  return model;
}

Json sizes_json(const ModelFolder& folder) {
  Json sizes = config_json(folder.config);
  if (!folder.config.patterns.empty()) sizes["attention"] = patterns_json(folder.config);
  if (!folder.removed.empty()) sizes["heads_removed"] = folder.removed.size();
  return sizes;
}

std::shared_ptr<TransformerModel> build_loaded(ModelFolder folder, const ModelInput& input) {
  const bool new_task_head = fit(folder, input);
  const auto model = new_task_head ? empty_model(folder) : unfilled_model(folder);
  if (new_task_head) initialise(*model, input.seed);
  load_weights(folder, *model, new_task_head);
  model->to(input.device);
  model->train();
  return model;
}

ModelSummary summarise_model_folder(const fs::path& path, const std::string& type) {
  ModelSummary summary{.folder = read_model_folder(path, type), .metadata = {}};
  for (const fs::path& file : weight_files(path)) {
    const SafetensorsHeader header = read_safetensors_header(file);
    for (const TensorInfo& tensor : header.tensors) {
      int64_t count = 1;
      for (const int64_t size : tensor.shape) count *= size;
      summary.parameters += count;
    }
    summary.bytes += fs::file_size(file);
    summary.metadata = header.metadata;
  }
  summary.intact_parameters = intact_parameters(summary.folder.config);
  summary.has_tokenizer = has_tokenizer(path);
  return summary;
}

std::vector<std::string> summary_lines(const ModelSummary& summary) {
  const TransformerConfig& config = summary.folder.config;
  std::vector<std::string> lines = {fmt::format("model_type: {}", summary.folder.model_type())};
  const Json sizes = config_json(config);  // named: items() would outlive a temporary
  for (const auto& [key, value] : sizes.items())
    lines.push_back(fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : dump_json(value)));
  lines.push_back(fmt::format("parameters: {} (intact: {})", summary.parameters, summary.intact_parameters));
  lines.push_back(fmt::format("weights: {}, tokenizer: {}", bytes_text(summary.bytes),
                              summary.has_tokenizer ? "saved with the model" : "none"));
  for (const auto& [key, value] : summary.metadata) lines.push_back(fmt::format("{}: {}", key, value));
  for (const BlockHeads& block : summary.folder.blocks())
    lines.push_back(fmt::format("{}: {} of {} heads: {}", to_string(block.id), block.heads.size(), config.heads,
                                block.heads.empty() ? "none" : fmt::format("{}", fmt::join(block.heads, " "))));
  return lines;
}

}  // namespace headprune
