#include "run/save_model.h"

#include "core/files.h"
#include "model/checkpoint.h"
#include "model/other_files.h"

namespace headprune {

std::string save_model(const Workspace& workspace, const Model& model, const std::string& mask,
                       const fs::path& folder) {
  workspace.journal.require_in_place();
  make_folders(folder.parent_path());
  FolderWriter writer(folder);
  write_model(writer, model, workspace.dataset.tokenizer.get(),
              {{"headprune.experiment_id", workspace.experiment_id}, {"headprune.mask_sha256", mask}});
  // What else the folder of a loaded model holds goes with it; its large files are not the model's.
  constexpr uint64_t kLargest = 1024 * 1024;
  if (const fs::path source = model.source_folder(); !source.empty() && fs::is_directory(source))
    copy_other_files(source, writer, kLargest);
  return writer.commit();
}

}  // namespace headprune
