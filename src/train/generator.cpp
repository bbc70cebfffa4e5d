#include "train/generator.h"

#include <mutex>
#include <vector>

#include "core/error.h"

namespace headprune {
namespace {

struct NamedGenerator {
  const char* name;
  at::Generator generator;
};

std::vector<NamedGenerator> generators(torch::Device device) {
  std::vector<NamedGenerator> all = {{"dropout", at::globalContext().defaultGenerator(at::kCPU)}};
  if (!device.is_cpu()) all.push_back({"dropout.device", at::globalContext().defaultGenerator(device)});
  return all;
}

}  // namespace

void seed_generators(uint64_t seed, torch::Device device) {
  for (NamedGenerator& named : generators(device)) {
    std::lock_guard lock(named.generator.mutex());
    named.generator.set_current_seed(seed);
  }
}

NamedTensors generator_states(torch::Device device) {
  NamedTensors states;
  for (NamedGenerator& named : generators(device)) {
    std::lock_guard lock(named.generator.mutex());
    states[named.name] = named.generator.get_state();
  }
  return states;
}

void restore_generators(const NamedTensors& states, torch::Device device, const std::string& where) {
  for (NamedGenerator& named : generators(device)) {
    const auto at = states.find(named.name);
    if (at == states.end())
      fail(ExitCode::run_failed, "{}: no generator state '{}'; continue on the kind of device it was written on", where,
           named.name);
    std::lock_guard lock(named.generator.mutex());
    named.generator.set_state(at->second);
  }
}

}  // namespace headprune
