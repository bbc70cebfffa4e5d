#include "model/blank.h"

#include <utility>

namespace headprune {
namespace {

thread_local Blank blank_now = Blank::zeros;

}  // namespace

MadeBlank::MadeBlank(Blank how) : before_(std::exchange(blank_now, how)) {}

MadeBlank::~MadeBlank() { blank_now = before_; }

torch::Tensor blank(at::IntArrayRef shape) {
  if (blank_now == Blank::without_memory) return torch::empty(shape, torch::kMeta);
  return blank_now == Blank::without_values ? torch::empty(shape) : torch::zeros(shape);
}

}  // namespace headprune
