#include "model/stored_heads.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "model/folder.h"
#include "model/hf_layout.h"

namespace headprune {
namespace {

constexpr const char* kUsePadded = "use --form padded, which fills every layer up to the largest";

/// "1 group", "3 groups", "no group".
std::string counted(int64_t count, const std::string& noun) {
  if (count == 0) return "no " + noun;
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

[[noreturn]] void refuse_uneven(ExportForm form, const std::string& needed, const std::string& problem) {
  fail(ExitCode::usage, "--form {} needs {}: {}; {}", enum_name(form), needed, problem, kUsePadded);
}

void require_heads(ExportForm form, const Blocks& blocks) {
  if (all_heads(blocks).empty())
    fail(ExitCode::usage, "--form {} cannot hold a model without any head, which transformers does not open; {}",
         enum_name(form), kUsePadded);
}

HeadLayout with_heads(HeadLayout layout, int64_t groups, int64_t in_group) {
  layout.groups = groups;
  layout.heads = groups * in_group;
  return layout;
}

/// Where all layers have the same number of groups, and all groups of heads.
HeadLayout compact_layout(const Blocks& blocks, const HeadLayout& intact) {
  constexpr const char* kNeeded = "as many groups in every layer and as many query heads in every group";
  require_heads(ExportForm::compact, blocks);
  const BlockHeads& first = blocks.front();
  const std::map<int64_t, int64_t> of_first = first.heads_by_group();
  for (const BlockHeads& block : blocks) {
    const std::map<int64_t, int64_t> counts = block.heads_by_group();
    if (counts.size() != of_first.size())
      refuse_uneven(
          ExportForm::compact, kNeeded,
          fmt::format("{} has {} of heads left and {} {}", to_string(block.id), counted(std::ssize(counts), "group"),
                      to_string(first.id), counted(std::ssize(of_first), "group")));
    for (const auto& [group, count] : counts)
      if (const auto& [usual, heads] = *of_first.begin(); count != heads)
        refuse_uneven(ExportForm::compact, kNeeded,
                      fmt::format("group {} of {} has {} left and group {} of {} {}", group, to_string(block.id),
                                  counted(count, "query head"), usual, to_string(first.id), heads));
  }
  return with_heads(intact, std::ssize(of_first), of_first.begin()->second);
}

/// Where all layers have the same number of heads.
HeadLayout degroup_layout(const Blocks& blocks, const HeadLayout& intact) {
  require_heads(ExportForm::degroup, blocks);
  const BlockHeads& first = blocks.front();
  for (const BlockHeads& block : blocks)
    if (block.count() != first.count())
      refuse_uneven(ExportForm::degroup, "as many heads in every layer",
                    fmt::format("{} has {} left and {} {}", to_string(block.id), counted(block.count(), "head"),
                                to_string(first.id), counted(first.count(), "head")));
  return with_heads(intact, first.count(), 1);
}

/// The smallest that every layer fits into; of those whose heads divide the width, where `divide` asks for that and
/// there is one.
HeadLayout padded_layout(const Blocks& blocks, const TransformerConfig& sizes, bool divide) {
  const HeadLayout intact = sizes.layout();
  int64_t groups = 1, in_group = 1;
  for (const BlockHeads& block : blocks) {
    const std::map<int64_t, int64_t> counts = block.heads_by_group();
    groups = std::max<int64_t>(groups, std::ssize(counts));
    for (const auto& [group, count] : counts) in_group = std::max(in_group, count);
  }
  HeadLayout best = with_heads(intact, groups, in_group);
  if (!divide || sizes.d_model % best.heads == 0) return best;
  // Rows of query and columns of output for each head, rows of key and value for each group.
  const auto size = [](const HeadLayout& layout) { return layout.heads + layout.groups; };
  std::optional<HeadLayout> divides;
  for (int64_t g = groups; g <= intact.groups; ++g)
    for (int64_t r = in_group; r <= intact.heads / intact.groups; ++r)
      if (const HeadLayout one = with_heads(intact, g, r);
          sizes.d_model % one.heads == 0 && (!divides || size(one) < size(*divides)))
        divides = one;
  return divides.value_or(best);
}

/// Rows (dimension 0) or columns (1) of heads or groups that stand at these places.
torch::Tensor rows_at(const std::vector<int64_t>& places, int64_t width) {
  std::vector<int64_t> rows;
  for (const int64_t place : places)
    for (int64_t i = 0; i < width; ++i) rows.push_back(place * width + i);
  return torch::tensor(rows, torch::kInt64);  // [n width]
}

/// Output columns of removed heads set to 0.
void zero_heads(TransformerModel& model, const HeadSet& removed) {
  const Blocks blocks = model.blocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    Attention& attention = model.attention(i);
    const int64_t width = attention.value_width();
    for (const int64_t head : removed.in_block(blocks[i].id))
      attention.output().weight.narrow(1, head * width, width).zero_();
  }
}

/// A twin in the sizes `full`, whose heads beyond `empty` are those of `kept`, in order; the others are 0.
std::shared_ptr<TransformerModel> filled_up(TransformerModel& kept, const TransformerConfig& full,
                                            const HeadSet& empty) {
  const auto twin = make_transformer(full);
  copy_equal_shapes(kept, *twin);
  const Blocks places = transformer_blocks(full, empty);
  for (size_t i = 0; i < places.size(); ++i) {
    Attention &part = kept.attention(i), &whole = twin->attention(i);
    const std::vector<int64_t>& heads = places[i].heads;
    const std::vector<int64_t> groups = places[i].groups();
    for (const auto& [source, target, rows] :
         {std::tuple(&part.query(), &whole.query(), rows_at(heads, part.key_width())),
          std::tuple(&part.key(), &whole.key(), rows_at(groups, part.key_width())),
          std::tuple(&part.value(), &whole.value(), rows_at(groups, part.value_width()))}) {
      target->weight.index_copy_(0, rows, source->weight);                          // [n width, C]
      if (source->bias.defined()) target->bias.index_copy_(0, rows, source->bias);  // [n width]
    }
    whole.output().weight.index_copy_(1, rows_at(heads, part.value_width()), part.output().weight);  // [C, n width]
    const std::vector<HeadRows> from = part.position_rows(), into = whole.position_rows();
    for (size_t p = 0; p < from.size(); ++p)
      torch::Tensor(into[p].parameter).index_copy_(0, rows_at(heads, from[p].width), from[p].parameter);
  }
  return twin;
}

/// A twin in which every head reads a copy of its group's keys and values, whatever their number in each layer.
std::shared_ptr<TransformerModel> degrouped(TransformerModel& kept, const TransformerConfig& sizes) {
  const auto twin = make_transformer(sizes, kept.removed_heads());
  copy_equal_shapes(kept, *twin);
  const HeadLayout layout = kept.sizes().layout();
  for (size_t i = 0; i < kept.blocks().size(); ++i) {
    Attention &part = kept.attention(i), &whole = twin->attention(i);
    std::vector<int64_t> places;  // of each head's group among those present
    for (const int64_t head : part.heads())
      places.push_back(std::lower_bound(part.groups().begin(), part.groups().end(), layout.group_of(head)) -
                       part.groups().begin());
    for (const auto& [source, target, width] : {std::tuple(&part.key(), &whole.key(), part.key_width()),
                                                std::tuple(&part.value(), &whole.value(), part.value_width())}) {
      const torch::Tensor rows = rows_at(places, width);
      target->weight.copy_(source->weight.index_select(0, rows));                          // [H width, C]
      if (source->bias.defined()) target->bias.copy_(source->bias.index_select(0, rows));  // [H width]
    }
  }
  return twin;
}

}  // namespace

ExportPlan plan_export(const ModelFolder& folder, const HeadSet& removed, ExportForm form) {
  ExportPlan plan{.form = form, .intact = folder.config, .removed = removed, .stated = {}};
  const HeadLayout intact = folder.config.layout();
  const bool states = folder.origin && !folder.origin->layout->head_keys(intact).is_null();
  if (!states && (form == ExportForm::padded || form == ExportForm::degroup))
    fail(ExitCode::usage,
         "{}: --form {} is for families whose config.json states heads apart from the model's width (llama, mistral, "
         "qwen2, qwen3), and this is {}; use --form zeroed",
         folder.path.string(), enum_name(form), folder.model_type());
  if (!states || form == ExportForm::zeroed) return plan;
  const Blocks blocks = transformer_blocks(folder.config, removed);
  if (form == ExportForm::compact) plan.stated = compact_layout(blocks, intact);
  if (form == ExportForm::padded)
    plan.stated = padded_layout(blocks, folder.config, folder.origin->layout->heads_divide_width());
  if (form == ExportForm::degroup) {
    plan.stated = degroup_layout(blocks, intact);
    plan.intact.groups = plan.intact.heads;
  }
  if (plan.stated->heads == intact.heads && plan.stated->groups == intact.groups) plan.stated.reset();
  return plan;
}

std::shared_ptr<TransformerModel> stored_model(const ExportPlan& plan, const TransformerModel& source) {
  const auto kept = source.clone();
  if (plan.form == ExportForm::zeroed) {
    const auto full = filled_up(*kept, plan.intact, kept->removed_heads());
    zero_heads(*full, plan.removed);
    return full;
  }
  kept->remove_heads(plan.removed);
  if (plan.form == ExportForm::degroup) return degrouped(*kept, plan.intact);
  if (plan.form == ExportForm::compact) return kept;
  const HeadLayout stored = plan.stated.value_or(plan.intact.layout());
  return filled_up(*kept, with_layout(plan.intact, stored), padding_heads(plan.intact, plan.removed, stored).value());
}

std::optional<HeadSet> padding_heads(const TransformerConfig& intact, const HeadSet& removed,
                                     const HeadLayout& stored) {
  const int64_t in_group = stored.heads / stored.groups;
  HeadSet padding;
  for (const BlockHeads& block : transformer_blocks(intact, removed)) {
    std::vector<int64_t> counts;
    for (const auto& [group, count] : block.heads_by_group()) counts.push_back(count);
    if (std::ssize(counts) > stored.groups) return std::nullopt;
    counts.resize(static_cast<size_t>(stored.groups), 0);
    for (int64_t group = 0; group < stored.groups; ++group) {
      const int64_t count = counts[static_cast<size_t>(group)];
      if (count > in_group) return std::nullopt;
      for (int64_t i = count; i < in_group; ++i) padding.insert({block.id, group * in_group + i});
    }
  }
  return padding;
}

TransformerConfig with_layout(TransformerConfig sizes, const HeadLayout& layout) {
  sizes.heads = layout.heads;
  sizes.groups = layout.groups;
  return sizes;
}

}  // namespace headprune
