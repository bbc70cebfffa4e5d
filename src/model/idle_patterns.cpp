#include "model/idle_patterns.h"

#include "config/dump.h"

namespace headprune {

std::string idle_pattern(const TransformerConfig& config) {
  const bool causal = config.architecture != Architecture::encoder;
  for (const PatternOptions& one : config.patterns)
    if (differs_from(one, causal) > config.max_length)
      return fmt::format("attention: {} works as full: no text has more than {} tokens", dump_json(pattern_json(one)),
                         config.max_length);
  return "";
}

}  // namespace headprune
