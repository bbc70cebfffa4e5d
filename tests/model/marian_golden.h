// The small Marian model of tests/golden/make_marian.py.
#pragma once

#include "core/files.h"
#include "model/encoder_decoder_model.h"
#include "model/folder.h"
#include "model/hf_golden.h"

namespace headprune::testing {

struct MarianGolden {
  fs::path folder = fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/hf/marian";
  Json expected = parse_json(read_file(folder / "expected.json"), "expected.json");
  std::vector<Example> examples;

  MarianGolden() {
    const Json& batch = expected["batch"];
    for (size_t i = 0; i < batch["lengths"].size(); ++i) {
      const auto cut = [&](const char* key, const char* lengths) {
        auto values = batch[key][i].get<std::vector<int64_t>>();
        values.resize(batch[lengths][i].get<size_t>());
        return values;
      };
      Example example;
      example.tokens = cut("tokens", "lengths");
      example.decoder_tokens = cut("decoder_tokens", "decoder_lengths");
      example.targets = batch["targets"][i].get<std::vector<int64_t>>();
      examples.push_back(std::move(example));
    }
  }
  Batch batch() const {
    std::vector<int64_t> indices;
    for (size_t i = 0; i < examples.size(); ++i) indices.push_back(static_cast<int64_t>(i));
    return make_batch(examples, indices, torch::kCPU);
  }
  Batch alone(int64_t example) const { return make_batch(examples, {example}, torch::kCPU); }
  std::shared_ptr<EncoderDecoder> model() const {
    return std::dynamic_pointer_cast<EncoderDecoder>(load_model(read_model_folder(folder), torch::kCPU));
  }
};

}  // namespace headprune::testing
