// `export` in its two kinds: a model as a folder that opens elsewhere, and numbers for other tools.
#pragma once

#include <string>

#include "core/error.h"

namespace headprune {

struct ExportArguments {
  std::string format, run, point, form, to;
  bool json = false;
};

/// A pruned model in the Hugging Face layout (formats.md section 6).
ExitCode export_model_of(const ExportArguments& arguments);

}  // namespace headprune
