#include "model/memory.h"

#include "model/blank.h"
#include "model/support.h"

using namespace headprune;

namespace {

TransformerConfig sizes_of(Architecture architecture, double dropout) {
  TransformerConfig sizes;
  sizes.architecture = architecture;
  sizes.d_model = 64;
  sizes.layers = 4;
  sizes.heads = 4;
  sizes.d_key = sizes.d_value = 16;
  sizes.d_ff = 256;
  sizes.dropout = dropout;
  sizes.vocabulary_size = 50257;
  sizes.max_length = 8192;
  sizes.outputs = architecture == Architecture::encoder ? 2 : 0;
  return sizes;
}

std::shared_ptr<TransformerModel> outline(const TransformerConfig& sizes) {
  const WithoutMemory without;
  return make_transformer(sizes);
}

double bytes(const TransformerModel& model, int64_t examples, int64_t tokens, const PassUse& use) {
  return static_cast<double>(pass_bytes(model, {.examples = examples, .tokens = tokens}, use));
}

}  // namespace

TEST_CASE("a pass needs memory for each position, and for each pair of them where weights are explicit", "[memory]") {
  const auto model = outline(sizes_of(Architecture::encoder, 0.1));
  const PassUse training{.gradients = true, .training = true}, evaluation{};
  CHECK(bytes(*model, 64, 512, training) == Approx(2 * bytes(*model, 32, 512, training)));
  CHECK(bytes(*model, 32, 4096, training) > 50 * bytes(*model, 32, 512, training));
  CHECK(bytes(*model, 32, 4096, evaluation) == Approx(8 * bytes(*model, 32, 512, evaluation)));
  // As measured: 1.6 GB, without dropout 0.25 GB, with the weights for entropy 1.1 GB.
  CHECK(bytes(*model, 32, 513, training) / 1e9 == Approx(1.6).epsilon(0.25));
  CHECK(bytes(*outline(sizes_of(Architecture::encoder, 0)), 32, 513, training) / 1e9 == Approx(0.25).epsilon(0.25));
  CHECK(bytes(*model, 32, 513, {.attention_weights = true}) / 1e9 == Approx(1.1).epsilon(0.25));
  // A 6,000-word line in a batch of 32.
  CHECK(bytes(*model, 32, 6001, training) > 64e9);
}

TEST_CASE("positions inside attention need memory for each pair, and a window by blocks does not", "[memory]") {
  const PassUse training{.gradients = true, .training = true};
  TransformerConfig sizes = sizes_of(Architecture::encoder, 0);
  sizes.pooling = Pooling::mean;
  const double plain = bytes(*outline(sizes), 16, 512, training);
  const auto beyond = [&](Positions positions, bool values) {
    TransformerConfig with = sizes;
    with.positions = positions;
    with.shaw_values = values;
    return (bytes(*outline(with), 16, 512, training) - plain) / 1e6;
  };
  // As measured: 440, 564, 503 and 1,288 MB; with dropout 1,791 MB of shaw's, 137 MB of a window.
  CHECK(beyond(Positions::transformer_xl, true) == Approx(564).epsilon(0.25));
  CHECK(beyond(Positions::t5, true) == Approx(438).epsilon(0.25));
  CHECK(beyond(Positions::shaw, false) == Approx(503).epsilon(0.25));
  CHECK(beyond(Positions::shaw, true) == Approx(1288).epsilon(0.25));
  sizes.dropout = 0.1;
  CHECK(beyond(Positions::shaw, true) == Approx(1791).epsilon(0.25));
  sizes.patterns = {LocalOptions{.window = 16}};
  CHECK(beyond(Positions::learned, true) == Approx(137).epsilon(0.25));
  const auto local = outline(sizes);
  CHECK(bytes(*local, 1, 8192, training) == Approx(16 * bytes(*local, 1, 512, training)).epsilon(0.01));
  CHECK(bytes(*local, 1, 8192, {.attention_weights = true}) > 100 * bytes(*local, 1, 512, {.attention_weights = true}));
}

TEST_CASE("logits of every position count", "[memory]") {
  const auto model = outline(sizes_of(Architecture::decoder, 0));
  CHECK(bytes(*model, 8, 1024, {}) > 2.0 * 8 * 1024 * 50257 * 4);
}

TEST_CASE("an estimate beyond all numbers stays a number", "[memory]") {
  const auto model = outline(sizes_of(Architecture::encoder, 0.1));
  CHECK(pass_bytes(*model, {.examples = 1 << 30, .tokens = 1 << 30}, {.gradients = true, .training = true}) > 8e18);
}
