#include "report/approved.h"

#include "core/files.h"
#include "support/catch.h"

namespace headprune::testing {

void check_approved(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/report/approved" / (name + ".txt");
  const std::string approved = fs::exists(path) ? read_file(path) : "";
  if (text != approved) {
    const fs::path folder = fs::temp_directory_path() / "headprune-not-approved";
    make_folders(folder);
    write_file(folder / (name + ".txt"), text, Sync::no);
    FAIL_CHECK("the text differs from " << path << "; it is in " << folder / (name + ".txt"));
  }
  CHECK(text == approved);
}

}  // namespace headprune::testing
