// Run folders whose journals say what a record does.
#pragma once

#include <filesystem>

#include "record/journal.h"

namespace headprune::testing {

/// Makes the folder, or fills one that holds no journal yet.
void store_run(const std::filesystem::path& folder, const Record& record);

}  // namespace headprune::testing
