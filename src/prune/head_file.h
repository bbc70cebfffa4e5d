// Orders and masks written by hand or by another tool, for the rule from_file.
//
// A JSON file with exactly one of two keys:
//   {"order": ["encoder.L0.H1", "encoder.L2.H3"]}
//       heads from first to remove to last; heads that are not listed are never removed
//   {"masks": [{"name": "no_l0", "removed": {"encoder": {"0": [0, 1]}}}, {"encoder": {"0": [0, 1], "2": [3]}}]}
//       sets of removed heads as in docs/formats.md section 1: kind, layer, ascending original head ids; {} removes
//       none. Each is a row of its own under its name, [A-Za-z0-9_.-]{1,64}; one without is called mask_0, mask_1, ...
//       by its place in the list
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/heads.h"

namespace headprune {

struct NamedMask {
  std::string name;
  HeadSet removed;
};

struct HeadFile {
  bool has_masks = false;
  std::vector<HeadId> order;
  std::vector<NamedMask> masks;  // names differ
};

/// Throws Error(usage) "FILE: what", also for a head that `blocks` does not have and for one that is listed twice.
HeadFile read_head_file(const std::filesystem::path& path, const Blocks& blocks);

}  // namespace headprune
