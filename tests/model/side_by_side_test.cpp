#include "model/side_by_side.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "model/support.h"
#include "support/threads.h"

namespace headprune {
namespace {

using namespace testing;

/// Batches of `examples` sequences of `length` tokens.
std::vector<Batch> equal_batches(size_t count, size_t examples, size_t length) {
  const Batch one = batch_of(std::vector(examples, std::vector<int64_t>(length, 1)));
  return std::vector<Batch>(count, one);
}

TEST_CASE("results are taken in order and once each, however many are computed at once", "[model]") {
  for (const int threads : {1, 3})
    for (const int64_t at_once : {1, 2, 5}) {
      const WithThreads with(threads);
      std::vector<size_t> taken;
      std::atomic<int> computed = 0;
      side_by_side(40, at_once, [&](size_t i) {
        // Earlier ones take longer, so that without turns later ones would be taken first.
        std::this_thread::sleep_for(std::chrono::microseconds(i % 4 == 0 ? 400 : 10));
        ++computed;
        return [&taken, i] { taken.push_back(i); };
      });
      CHECK(computed == 40);
      REQUIRE(taken.size() == 40);
      CHECK(std::is_sorted(taken.begin(), taken.end()));
      side_by_side(0, at_once, [&](size_t) -> std::function<void()> { throw std::logic_error("nothing to compute"); });
    }
}

TEST_CASE("several are under way at once, each within one thread", "[model]") {
  const WithThreads with(2);
  std::atomic<int> arrived = 0, undivided = 0;
  std::atomic<bool> met = true;
  side_by_side(2, 2, [&](size_t) -> std::function<void()> {
    ++arrived;
    for (int waited = 0; arrived < 2; ++waited) {  // for the other, which must be under way too
      if (waited > 20000) met = false;
      if (!met) break;
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    if (at::get_num_threads() == 1) ++undivided;
    return [] {};
  });
  CHECK(met);
  CHECK(undivided == 2);
  CHECK(at::get_num_threads() == 2);
}

TEST_CASE("the first to fail says why, whoever fails before it in time, and nothing after it is taken", "[model]") {
  for (const int64_t at_once : {1, 2, 4}) {
    const WithThreads with(2);
    std::vector<size_t> taken;
    const auto fails_at = [&](size_t first, size_t second) {
      taken.clear();
      side_by_side(30, at_once, [&](size_t i) -> std::function<void()> {
        if (i == first) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          throw std::runtime_error("first");
        }
        if (i == second) throw std::runtime_error("second");
        return [&taken, i] { taken.push_back(i); };
      });
    };
    CHECK_THROWS_WITH(fails_at(6, 7), "first");
    CHECK(taken == std::vector<size_t>{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_WITH(fails_at(0, 1), "first");
    CHECK(taken.empty());
    CHECK_THROWS_WITH(side_by_side(5, at_once,
                                   [](size_t i) {
                                     return [i] {
                                       if (i == 3) throw std::runtime_error("taking");
                                     };
                                   }),
                      "taking");
  }
}

TEST_CASE("as many batches at once as there are threads, memory permitting, unless operations are worth dividing",
          "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  const auto many = equal_batches(10, 4, 9);
  {
    const WithThreads with(4);
    CHECK(batches_at_once(*model, many, PassKind::forward) == 4);
    CHECK(batches_at_once(*model, many, PassKind::backward) == 4);
    CHECK(batches_at_once(*model, equal_batches(3, 4, 9), PassKind::forward) == 3);
    CHECK(batches_at_once(*model, equal_batches(1, 4, 9), PassKind::forward) == 1);
    CHECK(batches_at_once(*model, {}, PassKind::forward) == 1);
  }
  {
    const WithThreads with(1);
    CHECK(batches_at_once(*model, many, PassKind::forward) == 1);
  }
  const auto windows_of_64 = equal_batches(64, 32, 64);
  {
    TransformerConfig wide = small_config(Kind::encoder);
    wide.d_ff = 4096;  // 2048 positions x 4096 numbers a layer
    wide.max_length = 64;
    const auto model_with_work = small_model(wide);
    const WithThreads with(2);
    CHECK(batches_at_once(*model_with_work, windows_of_64, PassKind::forward) == 1);
    wide.d_ff = 800;  // backward passes have more small operations
    const auto with_less = small_model(wide);
    CHECK(batches_at_once(*with_less, windows_of_64, PassKind::forward) == 1);
    CHECK(batches_at_once(*with_less, windows_of_64, PassKind::backward) == 2);
    const WithThreads more(32);
    CHECK(batches_at_once(*model_with_work, windows_of_64, PassKind::forward) == 16);  // 134 MB each
  }
  const WithThreads with(64);
  TransformerConfig large = small_config(Kind::decoder);
  large.vocabulary_size = 60000;  // 2048 positions x 60,000 logits come to a GiB for two copies
  const auto writer = small_model(large);
  auto windows = windows_of_64;
  for (Batch& batch : windows) batch.targets = batch.tokens;
  CHECK(batches_at_once(*writer, windows, PassKind::forward) == 2);
  CHECK(batches_at_once(*writer, windows, PassKind::backward) == 1);
  for (Batch& batch : windows) batch.targets = torch::Tensor();
  CHECK(batches_at_once(*writer, windows, PassKind::forward) == 64);
}

}  // namespace
}  // namespace headprune
