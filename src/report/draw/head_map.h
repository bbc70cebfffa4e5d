// Heat maps with a row for every block and a column for every head.
#pragma once

#include <string>

#include "record/record.h"
#include "report/draw/heat_map.h"

namespace headprune {

/// Without values: a row for every block and a column for every head id of the intact model.
HeatMap head_map(const Record& record);
/// Null for a head that the map has no place for.
HeatCell* cell_of(HeatMap& map, const HeadId& head);
/// A number inside a cell: two or three digits.
std::string short_number(double value);

}  // namespace headprune
