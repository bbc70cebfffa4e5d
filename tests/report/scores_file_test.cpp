#include "report/tables/scores_file.h"

#include <cstring>

#include "core/safetensors.h"
#include "report/fixture.h"
#include "support/catch.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

std::vector<double> doubles(const std::string& file, const std::string& name) {
  const SafetensorsHeader header = parse_safetensors(file, "scores.safetensors");
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.name != name) continue;
    std::vector<double> values((tensor.end - tensor.begin) / sizeof(double));
    std::memcpy(values.data(), file.data() + header.data_start + tensor.begin, tensor.end - tensor.begin);
    return values;
  }
  return {};
}

}  // namespace

TEST_CASE("scores.safetensors holds one array for each seed, method, draw and kind", "[scores_file]") {
  const std::string file = scores_safetensors(two_seeds());
  const SafetensorsHeader header = parse_safetensors(file, "scores.safetensors");
  REQUIRE(header.tensors.size() == 5);
  CHECK(header.metadata.at("headprune.experiment_id") == "e0e0");
  CHECK(header.metadata.at("format") == "pt");
  CHECK(header.tensors[0].name == "seed1/gradient_l1/0/encoder");
  CHECK(header.tensors[0].shape == std::vector<int64_t>{2, 2});
  CHECK(header.tensors[0].dtype == Dtype::F64);
  CHECK(header.tensors[4].name == "present/encoder");
  CHECK(header.tensors[4].dtype == Dtype::BOOL);
  CHECK(doubles(file, "seed1/gradient_l1/0/encoder") == std::vector<double>{1, 4, 2, 3});
  CHECK(doubles(file, "seed2/output_l2/0/encoder") == std::vector<double>{1, 3, 2, 0.25});
}

TEST_CASE("absent heads are 0.0 and not present", "[scores_file]") {
  Record record = one_seed();
  record.scores.erase({1, "output_l2", 0, "", -1});
  ScoreBlock& block = record.scores.at({1, "gradient_l1", 0, "", -1}).blocks.at({Kind::encoder, 1});
  block.heads = {1};
  block.scores = {7};
  const std::string file = scores_safetensors(record);
  CHECK(doubles(file, "seed1/gradient_l1/0/encoder") == std::vector<double>{1, 4, 0, 7});
  CHECK(file.substr(file.size() - 4) == std::string("\1\1\0\1", 4));
}
