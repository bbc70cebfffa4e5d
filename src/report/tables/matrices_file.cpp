#include "report/tables/matrices_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <set>

#include "core/safetensors.h"
#include "core/text.h"
#include "report/numbers/roles.h"

namespace headprune {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

std::vector<std::string> matrix_labels(const Record& record) {
  std::set<std::string> labels;
  for (const RecordedAnalysis* analysis : shown_analyses(record))
    if (!analysis->matrices.empty()) labels.insert(analysis->done->analysis);
  return {labels.begin(), labels.end()};
}

std::string matrices_safetensors(const Record& record, const std::string& analysis) {
  std::vector<TensorBytes> tensors;
  std::map<std::string, std::string> metadata = {{"headprune.experiment_id", record.experiment_id}};
  for (const RecordedAnalysis* recorded : shown_analyses(record)) {
    if (recorded->done->analysis != analysis) continue;
    for (const HeadMatrix& matrix : recorded->matrices) {
      const std::vector<double> values = matrix.values();
      std::string bytes(values.size() * sizeof(double), '\0');
      std::memcpy(bytes.data(), values.data(), bytes.size());
      tensors.push_back({fmt::format("seed{}/{}", recorded->done->seed, matrix.name),
                         Dtype::F64,
                         {matrix.heads(), matrix.heads()},
                         std::move(bytes)});
    }
    metadata["headprune.heads"] = join(head_names(*recorded), " ");
  }
  return safetensors_bytes(std::move(tensors), metadata);
}

}  // namespace headprune
