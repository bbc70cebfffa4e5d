#include "run/fingerprint.h"

#include <ATen/Version.h>
#include <c10/util/Logging.h>
#include <torch/version.h>

#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "model/linear.h"
#include "record/device_name.h"
#include "record/host.h"

namespace headprune {

namespace {

/// "mkl", "openblas" and the like from LibTorch's own build description.
std::string blas_name() {
  const std::string config = at::show_config();
  const std::string key = "BLAS_INFO=";
  const size_t at = config.find(key);
  if (at == std::string::npos) return "unknown";
  const size_t start = at + key.size();
  return config.substr(start, config.find_first_of(", \n", start) - start);
}

/// OpenMP ends the process where it is refused a thread, so that is tried before.
void require_threads(int64_t count) {
  constexpr int64_t kMost = 4096;  // more than any machine has cores for
  if (count > kMost)
    fail(ExitCode::usage, "runtime.threads is {}, and more than {} are not started: set it to the number of cores",
         count, kMost);
  std::latch done(1);
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) < count - 1) threads.emplace_back([&done] { done.wait(); });
  } catch (const std::system_error& error) {
    done.count_down();
    fail(ExitCode::usage,
         "runtime.threads is {}, but the system starts no more than {} threads here ({}): set it lower, or raise the "
         "limit (ulimit -u, ulimit -v)",
         count, threads.size() + 1, error.code().message());
  }
  done.count_down();
}

}  // namespace

Products products_of(const RuntimeSection& runtime) { return products_of(runtime.linear, runtime.dtype); }

torch::Device configure_runtime(const RuntimeSection& runtime) {
  FLAGS_caffe2_use_fatal_for_enforce = false;  // a failed allocation is an exception, not the end of the process
  const int64_t threads = runtime.threads.value_or(host_info().cores);
  require_threads(threads);
  at::set_num_threads(static_cast<int>(threads));
  products_of(runtime);  // refuses what there is not
  if (runtime.dtype == ComputeType::bfloat16 && runtime.device == "cpu" && !has_bfloat16_products())
    log_warn("[run] runtime.dtype is bfloat16, which this processor does not have: it is slower than float32 here");
  at::globalContext().setDeterministicAlgorithms(runtime.deterministic, /*warn_only=*/false);
  try {
    const torch::Device device(runtime.device);
    if (device.is_cuda() && !at::globalContext().hasCUDA())
      fail(ExitCode::usage, "runtime.device is {} but this LibTorch finds no CUDA device: use cpu", runtime.device);
    if (!device.is_cpu() && !device.is_cuda())
      fail(ExitCode::usage, "runtime.device is {}: expected cpu, cuda or cuda:N", runtime.device);
    return device;
  } catch (const c10::Error&) {
    fail(ExitCode::usage, "runtime.device is {}: expected cpu, cuda or cuda:N", runtime.device);
  }
}

Json fingerprint(const Experiment& experiment, torch::Device device) {
  Json json;
  json["threads"] = at::get_num_threads();
  json["interop_threads"] = at::get_num_interop_threads();
  json["batch_size"] = experiment.score.batch_size;
  json["padding"] = "longest of the batch";
  json["device"] = device.str();
  json["device_name"] = device_name(device.str());
  json["dtype"] = enum_name(experiment.runtime.dtype);
  json["cpu_capability"] = at::get_cpu_capability();
  json["blas"] = blas_name();
  json["linear"] = enum_name(products_of(experiment.runtime).library);
  json["blas_core"] = std::getenv("OPENBLAS_CORETYPE") ? std::getenv("OPENBLAS_CORETYPE") : "";
  json["torch"] = TORCH_VERSION;
  json["deterministic"] = experiment.runtime.deterministic;
  return json;
}

}  // namespace headprune
