#include "train/options.h"

#include "config/load.h"
#include "support/catch_torch.h"

namespace headprune {
namespace {

struct Root {
  TrainOptions train;
  template <class V>
  void fields(V& v) {
    v("train", train, "training");
  }
};

TrainOptions decode(const std::string& lines) {
  return load_config<Root>(ConfigText{"test.yaml", "train:\n" + lines, "."}).value.train;
}

std::string refusal(const std::string& lines) {
  try {
    decode(lines);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("TrainingArguments' spellings are read", "[train][config]") {
  const TrainOptions options = decode(
      "  num_train_epochs: 0.5\n  max_steps: -1\n  learning_rate: 1e-4\n  lr_scheduler_type: cosine\n"
      "  warmup_ratio: 0.1\n  tokens_per_batch: 4096\n  adam_beta2: 0.98\n");
  CHECK(options.num_train_epochs == 0.5);
  CHECK(options.max_steps == -1);
  CHECK(options.learning_rate == 1e-4);
  CHECK(options.lr_scheduler_type == LrScheduler::cosine);
  CHECK(options.tokens_per_batch == 4096);
  CHECK(options.adam_beta2 == 0.98);
  CHECK(options.gradient_accumulation_steps == 1);
}

TEST_CASE("a spelling that is not supported says what to write instead", "[train][config]") {
  CHECK_THAT(refusal("  bf16: true\n"), ContainsSubstring("not supported: training is in float32"));
  CHECK_THAT(refusal("  evaluation_strategy: epoch\n"), ContainsSubstring("eval_steps"));
  CHECK_THAT(refusal("  lr: 0.1\n"), ContainsSubstring("learning_rate"));
}

TEST_CASE("a schedule without warm-up does not silently ignore one", "[train][config]") {
  CHECK_THAT(refusal("  lr_scheduler_type: constant\n  warmup_steps: 5\n"), ContainsSubstring("constant_with_warmup"));
  CHECK(refusal("  lr_scheduler_type: constant_with_warmup\n  warmup_steps: 5\n") == "accepted");
}

TEST_CASE("numbers out of range are refused", "[train][config]") {
  for (const char* line : {"num_train_epochs: 0", "max_steps: -2", "per_device_train_batch_size: 0", "adam_beta1: 1.0",
                           "learning_rate: -0.1", "label_smoothing_factor: 1.0", "warmup_ratio: 1.5",
                           "save_total_limit: 0", "logging_steps: 0", "gradient_accumulation_steps: 0"}) {
    INFO(line);
    CHECK(refusal(std::string("  ") + line + "\n") != "accepted");
  }
}

}  // namespace
}  // namespace headprune
