#include "record/example_values.h"

#include <algorithm>
#include <cstring>

#include "core/files.h"
#include "core/hash.h"
#include "core/safetensors.h"
#include "record/run_folder.h"

namespace headprune {
namespace {

bool zeros_and_ones(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0 || value == 1; });
}

TensorBytes tensor_of(const MetricResult& metric) {
  TensorBytes tensor{.name = metric.name, .shape = {std::ssize(metric.examples)}, .bytes = {}};
  if (zeros_and_ones(metric.examples)) {
    tensor.dtype = Dtype::U8;
    for (const double value : metric.examples) tensor.bytes += static_cast<char>(value);
    return tensor;
  }
  const std::vector<float> values(metric.examples.begin(), metric.examples.end());
  tensor.dtype = Dtype::F32;
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

std::vector<float> values_of(const TensorBytes& tensor) {
  if (tensor.dtype == Dtype::U8) return {tensor.bytes.begin(), tensor.bytes.end()};
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

std::filesystem::path example_values_path(const std::filesystem::path& run_folder, const std::string& sha256) {
  return run_folder / kExamples / (sha256.substr(0, 32) + ".safetensors");
}

std::string write_example_values(const std::filesystem::path& run_folder, const std::vector<MetricResult>& metrics) {
  std::vector<TensorBytes> tensors;
  for (const MetricResult& metric : metrics)
    if (!metric.examples.empty()) tensors.push_back(tensor_of(metric));
  if (tensors.empty()) return "";
  const std::string bytes = safetensors_bytes(std::move(tensors), {});
  const std::string hash = sha256(bytes);
  const std::filesystem::path path = example_values_path(run_folder, hash);
  make_folder(path.parent_path());
  if (!std::filesystem::exists(path)) write_file(path, bytes);
  return hash;
}

const std::vector<float>* ExampleValues::of(const PointResult& point, const std::string& metric) const {
  if (point.examples_sha256.empty()) return nullptr;
  const ByMetric& file = read(point.examples_sha256);
  const auto found = file.find(metric);
  return found == file.end() ? nullptr : &found->second;
}

const ExampleValues::ByMetric& ExampleValues::read(const std::string& hash) const {
  const auto known = files_.find(hash);
  if (known != files_.end()) return known->second;
  ByMetric file;
  const std::filesystem::path path = example_values_path(run_folder_, hash);
  if (std::filesystem::exists(path)) {
    if (sha256_file(path) != hash)
      fail(ExitCode::run_failed, "{} is not the file that the journal names: its SHA-256 differs", path.string());
    for (const TensorBytes& tensor : read_safetensors(path)) file[tensor.name] = values_of(tensor);
  }
  return files_.emplace(hash, std::move(file)).first->second;
}

}  // namespace headprune
