// `export` in its two kinds: a model as a folder that opens elsewhere, and numbers for other tools.
#pragma once

#include <functional>
#include <string>

#include "cli/cli.h"

namespace headprune {

struct ExportArguments {
  std::string format, run, point, form, to;
};
using ExportModel = std::function<ExitCode(const CommandLine&, const ExportArguments&)>;

/// A pruned model in the Hugging Face layout (docs/formats.md section 6).
ExitCode export_model_of(const CommandLine& line, const ExportArguments& arguments);

void add_export(CommandLine& line, ExportModel export_model);

}  // namespace headprune
