#include "core/random.h"

#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include "support/catch.h"

using namespace headprune;

// Written down from a Python transcription of Blackman and Vigna's xoshiro256starstar.c with Vigna's splitmix64.c as
// seeder; the transcription gives splitmix64.c's known 6457827717110365317, 3203168211198807973 for seed 1234567.
TEST_CASE("xoshiro256** gives the reference outputs", "[core]") {
  Random zero(0);
  for (const uint64_t expected :
       {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu, 0xbba5ad4a1f842e59u}) {
    CHECK(zero.next() == expected);
  }
  Random forty_two(42);
  for (const uint64_t expected : {0x15780b2e0c2ec716u, 0x6104d9866d113a7eu, 0xae17533239e499a1u}) {
    CHECK(forty_two.next() == expected);
  }
}

TEST_CASE("uniform and normal numbers are those of the transcription", "[core]") {
  Random uniform(42);
  for (const double expected : {0.08386297105988216, 0.3789802506626686, 0.6800434110281394}) {
    CHECK(uniform.uniform() == expected);
  }
  Random normal(42);
  for (const double expected : {-0.303263064678738, 1.3438117634372806, 0.3834617912676943}) {
    CHECK(normal.normal() == Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("shuffle is the transcription's, and a permutation", "[core]") {
  std::vector<int> values(10);
  std::iota(values.begin(), values.end(), 0);
  Random random(7);
  random.shuffle(values);
  CHECK(values == std::vector<int>{8, 3, 9, 0, 7, 2, 1, 6, 5, 4});
  std::vector<int> none, one = {5};
  random.shuffle(none);
  random.shuffle(one);
  CHECK(none.empty());
  CHECK(one == std::vector<int>{5});
}

TEST_CASE("streams of other names and seeds differ, and stay as they are", "[core]") {
  // Stored results depend on these three: they must never change.
  CHECK(stream_seed(1, "data") == 0x8a76ac6c800b0180u);
  CHECK(stream_seed(1, "dropout") == 0xf010ce04edbc517cu);
  CHECK(stream_seed(1, "") == 0x910a2dec89025cc1u);
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "aa", "data/epoch-1", "data/epoch-2"}) {
      seeds.insert(stream_seed(seed, name));
    }
  }
  CHECK(seeds.size() == 800);
  CHECK(Random(3, "data").next() == Random(stream_seed(3, "data")).next());
}

TEST_CASE("below is without bias", "[core]") {
  Random random(11);
  constexpr int kDraws = 60000;
  std::vector<int> counts(6);
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(6)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - kDraws / 6.0) * (count - kDraws / 6.0) / (kDraws / 6.0);
  CHECK(chi_square < 20.5);  // 0.1 % point for 5 degrees of freedom
  // Of n = 2^63 + 1, plain modulo would give every result below 2^63 - 1 twice as often as the others: half of the
  // raw values are thrown away instead, and all results stay in range.
  const uint64_t n = (uint64_t{1} << 63) + 1;
  int upper_half = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = random.below(n);
    REQUIRE(value < n);
    upper_half += value >= n / 2 ? 1 : 0;
  }
  CHECK(upper_half > 420);
  CHECK(upper_half < 580);
  CHECK(random.below(1) == 0);
  CHECK_THROWS_AS(random.below(0), std::logic_error);
}

TEST_CASE("normal numbers have the moments of the standard normal", "[core]") {
  Random random(5);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  // Five standard errors: 1, sqrt(2) and sqrt(96) over sqrt(n).
  const double unit = 5 / std::sqrt(static_cast<double>(kDraws));
  CHECK(std::abs(sum / kDraws) < unit);
  CHECK(std::abs(squares / kDraws - 1) < unit * std::sqrt(2.0));
  CHECK(std::abs(fourths / kDraws - 3) < unit * std::sqrt(96.0));
}
