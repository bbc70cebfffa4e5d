// Journals changed on purpose, with checksums that are right again.
#pragma once

#include <functional>
#include <string>

#include "core/files.h"
#include "record/framed_log.h"
#include "record/run_folder.h"

namespace headprune {

/// Applies `change` to every event of a run folder's journal.
inline void change_journal(const fs::path& run_folder, const std::function<void(Json&)>& change) {
  std::string text;
  for (Json line : read_framed(run_folder / kJournal).lines) {
    change(line);
    text += frame_line(line);
  }
  write_file(run_folder / kJournal, text, Sync::no);
}

}  // namespace headprune
