// Options of training, in the spellings of Hugging Face's TrainingArguments. Defaults differ from theirs where theirs
// are meant for fine-tuning large checkpoints: learning_rate, weight_decay, per_device_train_batch_size, logging_steps.
#pragma once

#include <cstdint>
#include <optional>

#include "config/fields.h"

namespace headprune {

/// As in transformers: `constant` has no warm-up, `constant_with_warmup` has one, the others may have one.
enum class LrScheduler { linear, cosine, constant, constant_with_warmup };
template <>
struct EnumNames<LrScheduler> {
  static constexpr std::pair<const char*, LrScheduler> names[] = {
      {"linear", LrScheduler::linear},
      {"cosine", LrScheduler::cosine},
      {"constant", LrScheduler::constant},
      {"constant_with_warmup", LrScheduler::constant_with_warmup}};
};

struct TrainOptions {
  double num_train_epochs = 3;
  int64_t max_steps = -1;
  int64_t per_device_train_batch_size = 32;
  std::optional<int64_t> tokens_per_batch;
  int64_t gradient_accumulation_steps = 1;
  double learning_rate = 5e-4;
  LrScheduler lr_scheduler_type = LrScheduler::linear;
  double warmup_ratio = 0;
  int64_t warmup_steps = 0;
  double weight_decay = 0.01;
  double layer_decay = 1;
  double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double max_grad_norm = 1;
  double label_smoothing_factor = 0;
  int64_t eval_steps = 0, save_steps = 500, logging_steps = 50;
  int64_t save_total_limit = 2;
  int64_t early_stopping_patience = 0;
  bool load_best_model_at_end = false;

  template <class V>
  void fields(V& v) {
    v("num_train_epochs", num_train_epochs, "passes over the train split; may be a fraction", above(0));
    v("max_steps", max_steps, "optimizer steps; above 0 it wins over num_train_epochs", at_least(-1));
    v("per_device_train_batch_size", per_device_train_batch_size, "examples a batch", at_least(1));
    v("tokens_per_batch", tokens_per_batch,
      "positions a batch, padding included; set, it wins over per_device_train_batch_size", at_least(1));
    v("gradient_accumulation_steps", gradient_accumulation_steps,
      "batches an optimizer step; the step equals one of a single large batch", at_least(1));
    v("learning_rate", learning_rate, "highest learning rate", at_least(0));
    v("lr_scheduler_type", lr_scheduler_type, "how the learning rate goes down; constant has no warm-up");
    v("warmup_ratio", warmup_ratio, "part of all steps over which the learning rate rises from 0", between(0, 1));
    v("warmup_steps", warmup_steps, "the same in steps; above 0 it wins over warmup_ratio", at_least(0));
    v("weight_decay", weight_decay, "decoupled decay of matrices; biases and norms have none", at_least(0));
    v("layer_decay", layer_decay,
      "factor on the learning rate for every layer that stands above (of the embeddings, all do); below 1 the lower "
      "layers of a fine-tuned model move less",
      above(0), at_most(1));
    v("adam_beta1", adam_beta1, "decay of AdamW's mean of gradients", at_least(0), below(1));
    v("adam_beta2", adam_beta2, "decay of AdamW's mean of squared gradients", at_least(0), below(1));
    v("adam_epsilon", adam_epsilon, "added to AdamW's denominator", at_least(0));
    v("max_grad_norm", max_grad_norm, "gradients are scaled down to this norm; 0 = never", at_least(0));
    v("label_smoothing_factor", label_smoothing_factor, "part of the target spread over all classes", at_least(0),
      below(1));
    v("eval_steps", eval_steps, "steps between evaluations on the select split; 0 = after every epoch", at_least(0));
    v("save_steps", save_steps, "steps between checkpoints; 0 = after every epoch", at_least(0));
    v("save_total_limit", save_total_limit, "newest checkpoints that stay; the best one stays in any case",
      at_least(1));
    v("logging_steps", logging_steps, "steps between rows of train.jsonl", at_least(1));
    v("early_stopping_patience", early_stopping_patience,
      "evaluations in a row without a better first metric after which training stops; 0 = never", at_least(0));
    v("load_best_model_at_end", load_best_model_at_end,
      "go on with the weights of the best evaluation instead of the last");
    not_supported(v);
  }

  CrossProblems problems() const {
    CrossProblems found;
    if (lr_scheduler_type == LrScheduler::constant && (warmup_steps > 0 || warmup_ratio > 0))
      found.emplace_back("lr_scheduler_type",
                         "constant has no warm-up: write constant_with_warmup, or leave out "
                         "warmup_ratio and warmup_steps");
    return found;
  }

 private:
  template <class V>
  static void not_supported(V& v) {
    constexpr auto kPrecision = "training is in float32";
    constexpr auto kBest = "the first of task.metrics decides what is best";
    constexpr auto kBatches = "batches are always made of similar lengths in a seeded order";
    v.not_supported("lr", "write learning_rate");
    v.not_supported("epochs", "write num_train_epochs");
    v.not_supported("batch_size", "write per_device_train_batch_size or tokens_per_batch");
    v.not_supported("train_batch_size", "write per_device_train_batch_size");
    v.not_supported("per_gpu_train_batch_size", "write per_device_train_batch_size");
    v.not_supported("per_device_eval_batch_size", "evaluation during training uses per_device_train_batch_size");
    v.not_supported("auto_find_batch_size", "write per_device_train_batch_size");
    v.not_supported("optim", "the optimizer is AdamW");
    v.not_supported("adafactor", "the optimizer is AdamW");
    v.not_supported("lr_scheduler_kwargs", "schedules have no further options");
    v.not_supported("eval_strategy", "write eval_steps (0 = after every epoch)");
    v.not_supported("evaluation_strategy", "write eval_steps (0 = after every epoch)");
    v.not_supported("save_strategy", "write save_steps (0 = after every epoch)");
    v.not_supported("logging_strategy", "write logging_steps");
    v.not_supported("metric_for_best_model", kBest);
    v.not_supported("greater_is_better", kBest);
    v.not_supported("early_stopping_threshold", "any improvement counts");
    v.not_supported("fp16", kPrecision);
    v.not_supported("bf16", kPrecision);
    v.not_supported("tf32", kPrecision);
    v.not_supported("gradient_checkpointing", "activations are kept");
    v.not_supported("torch_compile", "models run as they are");
    v.not_supported("seed", "write seeds at the top of the file");
    v.not_supported("data_seed", "write seeds at the top of the file");
    v.not_supported("full_determinism", "write runtime.deterministic");
    v.not_supported("output_dir", "write output.dir");
    v.not_supported("overwrite_output_dir", "run with --new for a new folder");
    v.not_supported("logging_dir", "write output.dir");
    v.not_supported("run_name", "write name at the top of the file");
    v.not_supported("report_to", "every run leaves train.jsonl");
    v.not_supported("resume_from_checkpoint", "a run continues from its newest checkpoint by itself");
    v.not_supported("do_train", "write model.init: train or load");
    v.not_supported("do_eval", "every run evaluates");
    v.not_supported("no_cuda", "write runtime.device");
    v.not_supported("use_cpu", "write runtime.device");
    v.not_supported("group_by_length", kBatches);
    v.not_supported("dataloader_drop_last", "the last, smaller batch is used");
    v.not_supported("dataloader_num_workers", kBatches);
  }
};

}  // namespace headprune
