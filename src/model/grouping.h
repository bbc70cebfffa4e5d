// A model whose query heads share fewer keys and values than they did.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/fields.h"
#include "model/family.h"

namespace headprune {

class HfLayout;      // model/hf_layout.h
struct ModelFolder;  // model/folder.h

/// Where the key and value projections of a new group come from: the mean of those that its heads read, the first of
/// them, or random numbers.
enum class GroupInit { mean, first, random };
template <>
struct EnumNames<GroupInit> {
  static constexpr std::pair<const char*, GroupInit> names[] = {
      {"mean", GroupInit::mean}, {"first", GroupInit::first}, {"random", GroupInit::random}};
};

inline constexpr const char* kGroupInitHelp =
    "key and value projections of a new group: the mean of those that its heads read (mean), the first of them "
    "(first), "
    "or random ones, as before training (random)";

struct Grouping {
  int64_t groups = 1;  // key/value heads of every block
  GroupInit init = GroupInit::mean;
  uint64_t seed = 0;  // of GroupInit::random
};

/// Throws Error(usage) where so many groups do not divide those of every block.
void require_groups(const Blocks& blocks, int64_t groups);

/// An independent copy whose blocks, of every kind, have `how.groups` key/value heads, each read by neighbouring query
/// heads (Ainslie et al. 2023, section 2.1: mean pooling of the projection matrices, biases too). Queries and output
/// stay, and nothing is trained. As many groups as there are give an equal model. Throws Error(usage): heads are
/// removed already, the number does not divide that of the groups there are, or the folder that the model came from
/// cannot say that heads share keys and values.
std::shared_ptr<TransformerModel> in_groups(TransformerModel& model, const Grouping& how);

/// Why the model of a folder is not converted: heads are gone already; empty where none is.
std::string lacks_heads(const ModelFolder& folder);

/// Why folders of a layout cannot say that heads share keys and values; empty where they can.
std::string holds_no_groups(const HfLayout& layout);

/// A family whose models are converted when they are built.
class ConvertedFamily final : public ModelFamily {
 public:
  /// `how.seed` means nothing: random projections come from that of the model.
  ConvertedFamily(std::shared_ptr<ModelFamily> family, const Grouping& how) : family_(std::move(family)), how_(how) {}
  bool predicts(DataKind kind) const override { return family_->predicts(kind); }
  Blocks blocks() const override;
  int64_t parameter_estimate(const ModelInput& input) const override;
  std::optional<std::filesystem::path> load_path() const override { return family_->load_path(); }
  ModelLabels labels() const override { return family_->labels(); }
  std::string cannot_convert() const override { return family_->cannot_convert(); }
  std::shared_ptr<TransformerModel> build(const ModelInput& input) const override;
  std::shared_ptr<TransformerModel> outline(const ModelInput& input) const override;
  Json loaded_sizes() const override;

 private:
  std::shared_ptr<ModelFamily> family_;
  Grouping how_;
};

}  // namespace headprune
