// Decoding one layer over a configuration: only the keys that are present are written.
#pragma once

#include "config/document.h"
#include "config/environment.h"
#include "config/fields.h"

namespace headprune {

/// What the decoding of all layers shares.
struct DecodeState {
  SectionView& root;
  Problems& problems;
  Environment& environment;
  Origins& origins;
  Json& extras;
};

/// Writes `layer` (a map, or the steps of an override) over state.root. Relative paths start at `folder`.
void decode_layer(const ConfigNode& layer, const std::filesystem::path& folder, DecodeState& state);

/// `text` as a path, made absolute from `folder`; "" stays "".
std::filesystem::path resolve_path(const std::string& text, const std::filesystem::path& folder);

/// Runs after all layers: required keys, empty values, plug-ins, labels, files that must exist, cross-field rules; and
/// makes defaults that are relative paths absolute. `start`: the place for what stands nowhere.
void finish_config(const Place& start, DecodeState& state);

}  // namespace headprune
