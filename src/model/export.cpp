#include "model/export.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/open_file.h"
#include "core/random.h"
#include "core/safetensors.h"
#include "core/stop.h"
#include "core/text.h"
#include "data/translation_tokenizer.h"
#include "model/checkpoint.h"
#include "model/exact_difference.h"
#include "model/folder.h"
#include "model/generation_check.h"
#include "model/other_files.h"
#include "model/stored_heads.h"
#include "model/weight_files.h"

namespace headprune {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int64_t kProbeLengths[] = {3, 16, 9, 1};

/// Padded sequences of ids drawn from a stream of their own; token types where the model knows several.
std::vector<Example> probe_examples(const TransformerConfig& sizes) {
  Random random(0, "export/probe");
  std::vector<Example> examples;
  for (const int64_t wanted : kProbeLengths) {
    Example example;
    example.label = 0;
    const int64_t length = sizes.positions == Positions::learned ? std::min(wanted, sizes.max_length) : wanted;
    for (int64_t t = 0; t < length; ++t) {
      example.tokens.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(sizes.vocabulary_size))));
      if (sizes.token_types > 1) example.token_types.push_back(t < length / 2 ? 0 : 1);
    }
    if (sizes.writes_from_source())
      for (int64_t t = 0; t < std::max<int64_t>(1, length - 1); ++t)
        example.decoder_tokens.push_back(
            static_cast<int64_t>(random.below(static_cast<uint64_t>(sizes.written_tokens()))));
    if (sizes.architecture == Architecture::decoder) example.targets.assign(example.tokens.size(), kNoTarget);
    if (sizes.writes_from_source()) example.targets.assign(example.decoder_tokens.size(), kNoTarget);
    examples.push_back(std::move(example));
  }
  return examples;
}

Batch batch_of(const std::vector<Example>& examples) {
  std::vector<int64_t> indices(examples.size());
  std::iota(indices.begin(), indices.end(), 0);
  return make_batch(examples, indices, torch::kCPU);
}

/// Of the source's weights; "format" is always written.
std::map<std::string, std::string> metadata_of(const fs::path& folder) {
  std::map<std::string, std::string> metadata;
  for (const fs::path& file : weight_files(folder)) metadata.merge(read_safetensors_header(file).metadata);
  metadata.erase("format");
  for (const char* key : {"headprune.experiment_id", "headprune.point", "headprune.mask_sha256"}) metadata.erase(key);
  return metadata;
}

void check_heads(const ModelFolder& folder, const HeadSet& removed) {
  const std::vector<HeadId> intact = all_heads(transformer_blocks(folder.config));
  for (const HeadId& head : removed.heads())
    if (std::find(intact.begin(), intact.end(), head) == intact.end())
      fail(ExitCode::run_failed, "{}: the model never had head {}", folder.path.string(), to_string(head));
}

/// Whether config.json and tensors are those of an ordinary model of another tool's family.
bool is_plain(const ModelFolder& folder, const ExportPlan& plan) {
  if (!folder.origin) return false;
  return plan.form == ExportForm::zeroed || !folder.origin->layout->head_keys(plan.intact.layout()).is_null();
}

/// The folder as a tool reads it that knows nothing of removed heads.
ModelFolder as_plain(ModelFolder folder) {
  folder.config = with_layout(folder.config, folder.stored);
  folder.removed = folder.empty = {};
  return folder;
}

/// Of a form that any tool opens which reads the family.
std::vector<std::string> notes_of_plain(const ModelFolder& folder, const ExportPlan& plan, const ModelFolder& written) {
  const HeadLayout &stored = written.stored, intact = plan.intact.layout();
  const int64_t width = plan.intact.d_model;
  std::vector<std::string> notes;
  if (folder.origin->layout->heads_divide_width() && width % stored.heads != 0)
    notes.push_back(fmt::format(
        "opens in transformers 4 and in headprune; transformers 5 refuses a {} whose {} heads do not divide its width "
        "of {}{}",
        folder.model_type(), stored.heads, width,
        width % intact.heads == 0 ? ": use --form padded for it, or zeroed" : ""));
  else
    notes.emplace_back("opens in transformers 4 and 5, and in headprune");
  if (plan.form == ExportForm::padded)
    notes.push_back(fmt::format("every layer has {} query heads in {} groups; {} of {} give nothing and only fill up",
                                stored.heads, stored.groups, written.empty.size(), stored.heads * plan.intact.layers));
  if (plan.form == ExportForm::degroup)
    notes.push_back(
        fmt::format("each of the {} query heads of a layer has a copy of its group's keys and values", stored.heads));
  return notes;
}

std::vector<std::string> notes_of(const ModelFolder& folder, const ExportPlan& plan, const ModelFolder& written) {
  if (!folder.origin)
    return {"opens in headprune (model.type: " + std::string(enum_name(folder.config.architecture)) + ", init: load)"};
  if (is_plain(folder, plan)) return notes_of_plain(folder, plan, written);
  if (!folder.origin->layout->prunes_elsewhere())
    return {"opens in headprune; transformers cannot remove heads of this family: use --form zeroed for it"};
  std::vector<std::string> notes = {
      "opens in transformers up to 4 and in headprune; transformers 5 removed head pruning: "
      "use --form zeroed for it"};
  const Blocks blocks = written.blocks();
  if (std::any_of(blocks.begin(), blocks.end(), [](const BlockHeads& block) { return block.heads.empty(); }))
    notes.push_back("a block has no head left, which transformers cannot build: use --form zeroed for it");
  return notes;
}

/// Keys of config.json that an export changes; a key of the source beyond them must be what it was.
constexpr const char* kChangedKeys[] = {"architectures", "torch_dtype", "dtype", "pruned_heads", "headprune"};

bool is_changed(const ModelFolder& folder, const std::string& key) {
  return std::find(std::begin(kChangedKeys), std::end(kChangedKeys), key) != std::end(kChangedKeys) ||
         (folder.origin && folder.origin->layout->head_keys(folder.stored).contains(key));
}

Json config_of(const fs::path& folder) { return read_json(folder / "config.json"); }

/// config.json of the model: what an export states of heads, beside what the intact model has, and the keys of the
/// source that mean nothing here.
Json config_of(const ModelFolder& folder, const ExportPlan& plan, const TransformerModel& model) {
  Json config = model.config();
  const bool states = is_plain(folder, plan) && plan.form != ExportForm::zeroed;
  if (!plan.removed.empty() && (plan.form == ExportForm::zeroed || states)) {
    config["headprune"] = removal_json(plan.intact, plan.removed);
    config["headprune"]["form"] = enum_name(plan.form);
  }
  if (plan.stated) {
    config.update(folder.origin->layout->head_keys(*plan.stated));
    if (!plan.removed.empty()) config["headprune"]["intact"] = folder.origin->layout->head_keys(plan.intact.layout());
  }
  const Json source = config_of(folder.path);
  for (const auto& [key, value] : source.items())
    if (!is_changed(folder, key) && !config.contains(key)) config[key] = value;
  return config;
}

[[noreturn]] void refuse_written(const ExportRequest& request, const std::string& problem) {
  fail(ExitCode::run_failed, "{}: {}: this is a bug in headprune; nothing was kept", request.target.string(), problem);
}

void check_config(const ExportRequest& request, const ModelFolder& source, const fs::path& written) {
  const Json before = config_of(request.model), after = config_of(written);
  for (const auto& [key, value] : before.items())
    if (!is_changed(source, key) && (!after.contains(key) || after[key] != value))
      refuse_written(request, fmt::format("{} of config.json is not what it was", key));
}

std::shared_ptr<const TranslationTokenizer> translation_tokenizer(const fs::path& folder) {
  return has_tokenizer(folder) ? std::dynamic_pointer_cast<const TranslationTokenizer>(read_tokenizer(folder))
                               : nullptr;
}

/// Of a family that writes: both models write alike, and both folders spell alike what they write. Returns the number
/// of texts.
int64_t check_texts(const ExportRequest& request, const GenerationPair& pair, const std::vector<Example>& examples,
                    const fs::path& written) {
  GenerationEnds ends;
  std::shared_ptr<const TranslationTokenizer> before, after;
  if (pair.source.sizes().writes_from_source()) {
    const Json config = config_of(request.model);
    ends.start = config.value("decoder_start_token_id", int64_t{0});
    ends.end = config.contains("eos_token_id") && config["eos_token_id"].is_number_integer()
                   ? config["eos_token_id"].get<int64_t>()
                   : -1;
    before = translation_tokenizer(request.model);
    after = translation_tokenizer(written);
    if (before) ends = {.start = before->start(), .end = before->end()};
  }
  std::vector<std::vector<int64_t>> texts;
  if (const std::string problem = generation_problem(pair, examples, ends, texts); !problem.empty())
    refuse_written(request, problem);
  for (std::vector<int64_t>& text : texts) {
    if (before) std::erase_if(text, [&](int64_t id) { return id >= before->target_size(); });
    if (before && (!after || before->decode_target(text) != after->decode_target(text)))
      refuse_written(request, "its tokenizer spells texts in another way than the source's");
  }
  return std::ssize(texts);
}

/// max |a - b| over logits of real positions, relative to the largest logit where that exceeds 1.
double difference(const torch::Tensor& a, const torch::Tensor& b, const Batch& batch) {
  const auto real = [&](const torch::Tensor& values) {
    return values.dim() == 3 ? values.index({batch.predicted()}) : values;
  };
  const double largest = std::max(1.0, real(a).abs().max().item<double>());
  return (real(a) - real(b)).abs().max().item<double>() / largest;
}

}  // namespace

ExportResult export_model(const ExportRequest& request) {
  if (fs::exists(request.target))
    fail(ExitCode::usage, "{} exists; name a folder that does not", request.target.string());
  const torch::NoGradGuard no_grad;
  const ModelFolder folder = read_model_folder(request.model, request.type);
  check_heads(folder, request.removed);
  const ExportPlan plan = plan_export(folder, folder.removed.with(request.removed), request.form);
  const auto source = load_model(folder, torch::kCPU);
  const std::vector<Example> examples = probe_examples(folder.config);
  const Batch batch = batch_of(examples);
  HeadProbe probe;
  probe.gates = mask_gates(source->blocks(), request.removed, torch::kCPU);
  const torch::Tensor expected = source->forward(batch, probe).values;

  // The source stays as it is, to be asked again.
  const auto pruned = stored_model(plan, *source);
  pruned->set_origin(folder.origin);
  pruned->set_labels(folder.labels);
  std::map<std::string, std::string> metadata = metadata_of(request.model);
  for (const auto& [key, value] : request.metadata) metadata[key] = value;
  make_folders(fs::absolute(request.target).parent_path());
  FolderWriter writer(request.target);
  check_stop();
  writer.write("config.json", dump_json_file(config_of(folder, plan, *pruned)));
  writer.write("model.safetensors", tensors_file(pruned->tensors(), metadata));
  check_stop();
  const std::vector<std::string> left_out = copy_other_files(request.model, writer);

  const ModelFolder written = read_model_folder(writer.temporary());
  ExportResult result;
  const auto compare = [&](TransformerModel& model) {
    check_stop();
    result.max_abs_diff = std::max(result.max_abs_diff, difference(expected, model.forward(batch).values, batch));
    if (result.max_abs_diff <= kTolerance) return;
    // Sums in another order may be all that differs in a deep model.
    const ExactDifference exact = exact_difference(*source, probe.gates, model, batch);
    if (!exact.equal())
      refuse_written(request, fmt::format("the written model's logits differ from the masked model's by {:.3g}",
                                          result.max_abs_diff));
  };
  if (is_plain(folder, plan)) compare(*load_model(as_plain(written), torch::kCPU));
  const auto reloaded = load_model(written, torch::kCPU);
  compare(*reloaded);
  if (written.removed != plan.removed) refuse_written(request, "other heads are removed when it is read back");
  check_config(request, folder, writer.temporary());
  result.texts =
      check_texts(request, {.source = *source, .gates = probe.gates, .written = *reloaded, .tolerance = kTolerance},
                  examples, writer.temporary());
  check_stop();
  writer.commit();
  result.heads = static_cast<int64_t>(all_heads(reloaded->blocks()).size());
  result.intact_heads = static_cast<int64_t>(all_heads(transformer_blocks(folder.config)).size());
  result.parameters = parameter_count(*pruned);
  result.intact_parameters = intact_parameters(folder.config);
  result.notes = notes_of(folder, plan, written);
  if (!left_out.empty())
    result.notes.push_back("not copied, being weights or a manifest of the source: " + join_some(left_out, ", ", 5));
  return result;
}

}  // namespace headprune
