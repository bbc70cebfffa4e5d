#include "report/tables/scores_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/safetensors.h"

namespace headprune {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

struct Grid {
  int64_t layers = 0, heads = 0;
  size_t size() const { return static_cast<size_t>(layers * heads); }
  size_t at(int64_t layer, int64_t head) const { return static_cast<size_t>(layer * heads + head); }
};

std::map<Kind, Grid> grids(const Record& record) {
  std::map<Kind, Grid> found;
  const auto grow = [&](const BlockId& id, const std::vector<int64_t>& heads) {
    Grid& grid = found[id.kind];
    grid.layers = std::max(grid.layers, id.layer + 1);
    for (const int64_t head : heads) grid.heads = std::max(grid.heads, head + 1);
  };
  if (record.facts) {
    for (const BlockHeads& block : record.facts->blocks) grow(block.id, block.heads);
  }
  for (const auto& [key, score] : record.scores) {
    if (!key.sweep.empty()) continue;
    for (const auto& [id, block] : score.blocks) grow(id, block.heads);
  }
  return found;
}

TensorBytes score_tensor(const ScoreKey& key, const RecordedScore& score, Kind kind, const Grid& grid) {
  std::vector<double> values(grid.size(), 0.0);
  for (const auto& [id, block] : score.blocks) {
    if (id.kind != kind) continue;
    for (size_t i = 0; i < block.heads.size(); ++i) values[grid.at(id.layer, block.heads[i])] = block.scores[i];
  }
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {fmt::format("seed{}/{}/{}/{}", key.seed, key.method, key.draw, to_string(kind)),
          Dtype::F64,
          {grid.layers, grid.heads},
          std::move(bytes)};
}

}  // namespace

std::string scores_safetensors(const Record& record) {
  std::vector<TensorBytes> tensors;
  for (const auto& [kind, grid] : grids(record)) {
    std::string present(grid.size(), '\0');
    for (const auto& [key, score] : record.scores) {
      if (!key.sweep.empty()) continue;
      tensors.push_back(score_tensor(key, score, kind, grid));
      for (const auto& [id, block] : score.blocks) {
        if (id.kind != kind) continue;
        for (const int64_t head : block.heads) present[grid.at(id.layer, head)] = '\1';
      }
    }
    tensors.push_back({fmt::format("present/{}", to_string(kind)), Dtype::BOOL, {grid.layers, grid.heads}, present});
  }
  std::map<std::string, std::string> metadata = {{"headprune.experiment_id", record.experiment_id}};
  if (record.facts) metadata["headprune.mask_sha256"] = mask_sha256(record.facts->blocks, HeadSet());
  return safetensors_bytes(std::move(tensors), metadata);
}

}  // namespace headprune
