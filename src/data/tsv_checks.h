// What in tab-separated data is most likely not what its owner means: said in warnings, for nobody reads the file.
#pragma once

#include "data/dataset.h"
#include "data/labels.h"
#include "data/tsv_rows.h"

namespace headprune {

struct TsvLook {
  const AllRows& rows;  // parts that nothing reads are empty
  TsvQuoting quoting = TsvQuoting::none;
  const LabelAnswer& labels;  // classification
};

/// Throws Error(run_failed) where the train part's label column says the same of every example: most likely it is the
/// wrong one.
void require_different_labels(const PartRows& train, DataKind kind, const std::string& column);

/// Warns (data/splits.h) of columns that nothing reads, above all of longer texts among them; texts that are numbers or
/// few different ones; cells quoted as in CSV; a first line that seems to be a header, or a header that seems to be an
/// example; labels with spaces at their ends, that differ in case, spaces or digits alone, that stand for a missing
/// value, that are very rare or never there; numbers that seem to mark a missing value.
void warn_of_rows(const TsvLook& look, Dataset& dataset);

}  // namespace headprune
