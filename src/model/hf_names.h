// Which tensor of a checkpoint file is which of its layout: prefixes, old spellings, tied copies, what is left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/hf_layout.h"

namespace headprune {

struct HfNames {
  std::map<std::string, std::string> files;               // name in the layout to name in the file
  std::map<std::string, std::string> copies;              // of those, the ones whose tied copy is read in their place
  std::vector<std::pair<std::string, std::string>> tied;  // name in the layout, and of a copy in the file beside it
  std::vector<std::string> left_out;  // names in the file: buffers, tied copies, pretraining's heads
  std::vector<std::string> other;     // names in the file of what no such model has: other heads
  std::string prefix;                 // before all names of the file, and not the layout's: "module."
};

/// Names as the layout lists them: without the prefix that all names of the file have and without the layout's own, in
/// today's spelling of layer normalization. Where a tensor is missing and a tied copy of it is there, the copy stands
/// for it. A name that is neither the layout's nor of the parts of the bare model is left out. Throws Error(run_failed)
/// for a tensor that is there twice.
HfNames find_names(const HfLayout& layout, const TransformerConfig& sizes, const std::vector<std::string>& file,
                   const std::string& where);

}  // namespace headprune
