// How the heads of a pruned model stand in the tensors of an exported folder (docs/formats.md section 6).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/export_form.h"
#include "model/transformer_model.h"

namespace headprune {

struct ModelFolder;  // model/folder.h

/// What an export writes, known before any weight is read.
struct ExportPlan {
  ExportForm form = ExportForm::compact;
  TransformerConfig intact;  // in whose heads `removed` counts; degroup: every head is a group
  HeadSet removed;           // all that are gone, also those that the source lacks already
  /// Heads and groups that config.json is to state for every layer; nothing where it keeps those of the intact model.
  std::optional<HeadLayout> stated;
};

/// Throws Error(usage) where the form cannot hold the model: a family that has no such form, or layers and groups that
/// differ where the form needs them alike, which the error names.
ExportPlan plan_export(const ModelFolder& folder, const HeadSet& removed, ExportForm form);

/// The model whose tensors() the folder gets. `source` lacks at most the heads that the plan removes.
std::shared_ptr<TransformerModel> stored_model(const ExportPlan& plan, const TransformerModel& source);

/// Ids, among the heads of `stored`, of those that only fill up: in a padded layer the groups that have heads left, and
/// the heads of each, stand first, in the order of their ids. Nothing where `stored` has no room for the heads that
/// `removed` leaves of the intact model.
std::optional<HeadSet> padding_heads(const TransformerConfig& intact, const HeadSet& removed, const HeadLayout& stored);

/// The same sizes with other heads and groups.
TransformerConfig with_layout(TransformerConfig sizes, const HeadLayout& layout);

}  // namespace headprune
