// Every kind of positions with every pattern, in encoders, decoders and encoder-decoders.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/support.h"

namespace headprune::testing {

struct NamedPositions {
  const char* name;
  void (*set)(TransformerConfig&);
};

inline const NamedPositions kPositions[] = {
    {"learned", [](TransformerConfig& c) { c.positions = Positions::learned; }},
    {"sinusoidal", [](TransformerConfig& c) { c.positions = Positions::sinusoidal; }},
    {"none", [](TransformerConfig& c) { c.positions = Positions::none; }},
    {"rotary", [](TransformerConfig& c) { c.positions = Positions::rotary; }},
    {"rotary, part of a head, neighbours",
     [](TransformerConfig& c) {
       c.positions = Positions::rotary;
       c.rope_pairs = RotaryPairs::neighbours;
       c.rope_fraction = 2.0 / 3;
     }},
    {"alibi", [](TransformerConfig& c) { c.positions = Positions::alibi; }},
    {"t5",
     [](TransformerConfig& c) {
       c.positions = Positions::t5;
       c.t5_buckets = 8;
       c.t5_max_distance = 5;
     }},
    {"shaw",
     [](TransformerConfig& c) {
       c.positions = Positions::shaw;
       c.shaw_max_distance = 2;
     }},
    {"shaw, keys alone",
     [](TransformerConfig& c) {
       c.positions = Positions::shaw;
       c.shaw_max_distance = 2;
       c.shaw_values = false;
     }},
    {"transformer_xl", [](TransformerConfig& c) { c.positions = Positions::transformer_xl; }}};

inline const std::pair<const char*, std::vector<PatternOptions>> kPatterns[] = {
    {"full", {}},
    {"local", {LocalOptions{.window = 2}}},
    {"strided", {StridedOptions{.stride = 2}}},
    {"fixed", {FixedOptions{.stride = 3, .summary = 1}}}};

/// Four heads, so that those which go and those which stay can alternate; a pattern whose heads differ has two kinds.
inline TransformerConfig variant(Architecture architecture, const NamedPositions& positions,
                                 const std::vector<PatternOptions>& patterns) {
  TransformerConfig config = architecture == Architecture::encoder_decoder
                                 ? small_translator(NormOrder::pre, false)
                                 : small_config(architecture == Architecture::encoder ? Kind::encoder : Kind::decoder);
  config.heads = 4;
  config.d_key = 6;
  positions.set(config);
  config.patterns = patterns;
  return config;
}

template <class F>
void for_each_variant(const F& check) {
  for (const auto& [word, architecture] : EnumNames<Architecture>::names)
    for (const NamedPositions& positions : kPositions)
      for (const auto& [pattern, options] : kPatterns) {
        INFO(word << ", positions " << positions.name << ", attention " << pattern);
        check(variant(architecture, positions, options));
      }
}

inline std::shared_ptr<TransformerModel> variant_model(const TransformerConfig& config) {
  return make_ready(make_transformer(config), 1);
}

inline Batch variant_batch(const TransformerConfig& config) {
  return config.writes_from_source() ? small_translation() : small_batch();
}

/// Heads that do not stand beside each other, in every block.
inline HeadSet alternating(const Blocks& blocks) {
  HeadSet removed;
  for (const BlockHeads& block : blocks)
    for (const int64_t head : block.id.layer % 2 == 0 ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{1})
      removed.insert({block.id, head});
  return removed;
}

}  // namespace headprune::testing
