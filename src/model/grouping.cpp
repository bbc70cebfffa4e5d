#include "model/grouping.h"

#include "core/error.h"
#include "core/random.h"
#include "model/attention.h"
#include "model/blank.h"
#include "model/checkpoint.h"
#include "model/folder.h"
#include "model/hf_layout.h"

namespace headprune {
namespace {

/// Rows of `from` [G D, ...] for groups that each stand for `joined` of them, [G / joined D, ...].
torch::Tensor pooled(const torch::Tensor& from, int64_t width, int64_t joined, GroupInit init) {
  std::vector<int64_t> apart = {-1, joined, width};
  const auto rest = from.sizes().slice(1);
  apart.insert(apart.end(), rest.begin(), rest.end());
  const torch::Tensor groups = from.view(apart);  // [G / joined, joined, D, ...]
  return (init == GroupInit::mean ? groups.mean(1) : groups.select(1, 0)).flatten(0, 1);  // [G / joined D, ...]
}

constexpr const char* kLacksHeads = "the model lacks heads already; only an intact one is put into fewer groups";

}  // namespace

std::string lacks_heads(const ModelFolder& folder) {
  return folder.removed.empty() ? "" : fmt::format("{}: {}", folder.path.string(), kLacksHeads);
}

void require_groups(const Blocks& blocks, int64_t groups) {
  for (const BlockHeads& block : blocks)
    if (const int64_t present = std::ssize(block.groups()); groups < 1 || present % groups != 0)
      fail(ExitCode::usage, "groups: {} does not divide the {} key/value heads of a block", groups, present);
}

std::string holds_no_groups(const HfLayout& layout) {
  if (!layout.head_keys(HeadLayout()).is_null()) return "";
  return fmt::format(
      "folders of type {} cannot say that heads share keys and values; those of llama, mistral, qwen2, qwen3 and of "
      "models trained here can",
      layout.model_type());
}

std::shared_ptr<TransformerModel> in_groups(TransformerModel& model, const Grouping& how) {
  if (const std::string problem = model.origin() ? holds_no_groups(*model.origin()->layout) : ""; !problem.empty())
    fail(ExitCode::usage, "groups: {}", problem);
  if (!model.removed_heads().empty()) fail(ExitCode::usage, "groups: {}", kLacksHeads);
  require_groups(model.blocks(), how.groups);
  const HeadLayout before = model.sizes().layout();
  if (how.groups == before.groups) return model.clone();

  const torch::NoGradGuard no_grad;
  TransformerConfig sizes = model.sizes();
  sizes.groups = how.groups;
  const auto twin = make_transformer(sizes);
  if (how.init == GroupInit::random) initialise(*twin, how.seed);
  twin->to(model.parameters().front().device());
  copy_equal_shapes(model, *twin);
  if (how.init != GroupInit::random)
    for (size_t i = 0; i < twin->blocks().size(); ++i) {
      Attention &from = model.attention(i), &to = twin->attention(i);
      for (const auto& [old, made, width] : {std::tuple(&from.key(), &to.key(), from.key_width()),
                                             std::tuple(&from.value(), &to.value(), from.value_width())}) {
        made->weight.copy_(pooled(old->weight, width, before.groups / how.groups, how.init));
        if (old->bias.defined()) made->bias.copy_(pooled(old->bias, width, before.groups / how.groups, how.init));
      }
    }
  twin->take_circumstances(model);
  return twin;
}

Blocks ConvertedFamily::blocks() const {
  Blocks blocks = family_->blocks();
  require_groups(blocks, how_.groups);
  for (BlockHeads& block : blocks) block.heads_per_group = block.count() / how_.groups;
  return blocks;
}

int64_t ConvertedFamily::parameter_estimate(const ModelInput& input) const { return parameter_count(*outline(input)); }

std::shared_ptr<TransformerModel> ConvertedFamily::build(const ModelInput& input) const {
  Grouping how = how_;
  how.seed = stream_seed(input.seed, "convert");
  return in_groups(*family_->build(input), how);
}

std::shared_ptr<TransformerModel> ConvertedFamily::outline(const ModelInput& input) const {
  const auto before = family_->outline(input);
  TransformerConfig sizes = before->sizes();
  sizes.groups = how_.groups;
  const WithoutMemory outline;
  return make_transformer(sizes);
}

Json ConvertedFamily::loaded_sizes() const {
  Json sizes = family_->loaded_sizes();
  if (!sizes.is_null()) sizes["groups"] = how_.groups;
  return sizes;
}

}  // namespace headprune
