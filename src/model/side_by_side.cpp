#include "model/side_by_side.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "model/attention.h"

namespace headprune {
namespace {

constexpr int64_t kBytesAtOnce = int64_t{2} << 30;
/// Numbers of a thread's share of the widest layer from which on threads gain nothing from working on batches of their
/// own, and lose what they read of the same weights (benchmarks/README.md). A backward pass has more small operations.
constexpr int64_t kWorthDividingForward = 512 * 1024, kWorthDividingBackward = 1024 * 1024;

/// Hands out the numbers below `count`, and lets those who took one go on in their order.
class Turns {
 public:
  explicit Turns(size_t count) : count_(count) {}

  /// The next number; `count` when there is none.
  size_t take() {
    const std::lock_guard lock(mutex_);
    return given_up_ || next_ == count_ ? count_ : next_++;
  }
  /// Waits for the turn of `number`; false when an earlier one gave up.
  bool wait(size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_up_ || turn_ == number; });
    return !given_up_;
  }
  void pass_on() {
    const std::lock_guard lock(mutex_);
    ++turn_;
    changed_.notify_all();
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }

 private:
  const size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0, turn_ = 0;
  bool given_up_ = false;
};

/// Numbers that a model makes of one position.
struct Widths {
  int64_t widest = 0, all = 0;  // outputs of its layers
  int64_t written = 0;          // outputs of the output layer, where every position has some
  int64_t heads = 0;            // attention weights for each key
};

Widths widths_of(const Model& model, const Batch& batch) {
  Widths widths;
  for (const auto& module : model.modules(/*include_self=*/false))
    if (const auto* projection = dynamic_cast<const Projection*>(module.get())) {
      widths.widest = std::max(widths.widest, projection->weight.size(0));
      widths.all += projection->weight.size(0);
    }
  if (batch.targets.defined())  // a number for each token of the vocabulary
    for (const torch::Tensor& parameter : model.parameters())
      if (parameter.dim() == 2) widths.written = std::max(widths.written, parameter.size(0));
  for (const BlockHeads& block : model.blocks()) widths.heads += block.count();
  return widths;
}

int64_t positions_of(const Batch& batch) {
  return batch.tokens.numel() + (batch.decoder_tokens.defined() ? batch.decoder_tokens.numel() : 0);
}

/// Numbers that a pass over one batch has at one time, roughly.
int64_t numbers_of(const Widths& widths, const Batch& batch, PassKind kind) {
  if (kind == PassKind::forward) return positions_of(batch) * (4 * widths.widest + 2 * widths.written);
  return positions_of(batch) * (2 * widths.all + widths.heads * batch.tokens.size(1) + 3 * widths.written);
}

}  // namespace

int64_t batches_at_once(const Model& model, const std::vector<Batch>& batches, PassKind kind) {
  const auto threads = static_cast<int64_t>(at::get_num_threads());
  if (threads < 2 || batches.size() < 2 || !batches.front().tokens.is_cpu()) return 1;
  const Widths widths = widths_of(model, batches.front());
  int64_t positions = 0, largest = 1;
  for (const Batch& batch : batches) {
    positions += positions_of(batch);
    largest = std::max(largest, numbers_of(widths, batch, kind));
  }
  const int64_t share = positions / std::ssize(batches) * widths.widest / threads;
  if (share > (kind == PassKind::forward ? kWorthDividingForward : kWorthDividingBackward)) return 1;
  const int64_t fit = kBytesAtOnce / (largest * static_cast<int64_t>(sizeof(float)));
  return std::max<int64_t>(1, std::min({threads, fit, std::ssize(batches)}));
}

void side_by_side(size_t count, int64_t at_once, const std::function<std::function<void()>(size_t)>& compute) {
  if (at_once < 2) {
    for (size_t i = 0; i < count; ++i) compute(i)();
    return;
  }
  Turns turns(count);
  std::exception_ptr first_error;  // only who has its turn writes it
  const auto work = [&] {
    at::set_num_threads(1);  // of the operations of this thread
    for (size_t i = turns.take(); i < count; i = turns.take()) {
      std::function<void()> result;
      try {
        result = compute(i);
      } catch (...) {
        result = [error = std::current_exception()] { std::rethrow_exception(error); };
      }
      if (!turns.wait(i)) return;
      try {
        result();
      } catch (...) {
        first_error = std::current_exception();
        turns.give_up();
        return;
      }
      turns.pass_on();
    }
  };
  const int threads = at::get_num_threads();
  {
    std::vector<std::jthread> workers;
    for (int64_t i = 0; i < at_once; ++i) workers.emplace_back(work);
  }
  at::set_num_threads(threads);  // threads to come begin with what was set last, by whichever thread
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace headprune
