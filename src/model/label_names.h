// Names of a classifier's outputs in config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headprune {

/// As config.json has them, {"0":"negative","1":"positive"} and {"negative":0,"positive":1}.
Json id2label_json(const std::vector<std::string>& labels);
Json label2id_json(const std::vector<std::string>& labels);

/// Outputs that id2label, num_labels or label2id speak of; nothing where the file has none of them. Throws
/// Error(run_failed), naming `where` and both keys, where they differ.
std::optional<int64_t> stated_outputs(const Json& config, const std::string& where);

/// One name an output, from id2label and label2id: a placeholder of the one (LABEL_0) gives way to a name of the other.
/// Nothing where the file has neither. Throws Error(run_failed), naming `where` and both keys, where they contradict
/// each other.
std::vector<std::string> labels_from_json(const Json& config, const std::string& where);

}  // namespace headprune
