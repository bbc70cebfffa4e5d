// The interface of a data source: one .cpp a source, registered under the name that YAML's data.type uses.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config/registry.h"
#include "data/dataset.h"
#include "data/labels.h"

namespace headprune {

struct LoadInput {
  uint64_t seed = 0;  // of the whole experiment: generated data and cut splits do not change between `seeds`
  /// That of a loaded model; without it a vocabulary is built from the train part (and the score part's source).
  std::shared_ptr<const Tokenizer> tokenizer = {};
  DataKind kind = DataKind::labelled;  // what the task predicts; one that the source gives
  ModelLabels model = {};              // outputs of a loaded classifier
  bool trains = false;                 // whether the experiment trains: then a classifier can be started anew
};

class DataSource {
 public:
  virtual ~DataSource() = default;
  /// Whether its examples can be read as ones of this kind.
  virtual bool gives(DataKind kind) const = 0;
  /// Files this source reads, for the run's record and hash. Empty for generated data.
  virtual std::vector<InputFile> inputs() const = 0;
  /// Reads, checks, tokenizes and splits. Throws Error(usage) for a missing file, Error(run_failed) "file:line: ..."
  /// for malformed content.
  virtual Dataset load(const LoadInput& input) const = 0;
};

}  // namespace headprune
