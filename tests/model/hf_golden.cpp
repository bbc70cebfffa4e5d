#include "hf_golden.h"

#include <cmath>

namespace headprune::testing {

namespace {

/// std::max passes by a NaN, which would then count as agreement.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

HfGolden::HfGolden(const std::string& name) : folder(fs::path(HEADPRUNE_SOURCE_DIR) / "tests/golden/hf" / name) {
  expected = parse_json(read_file(folder / "expected.json"), name);
  if (!expected.contains("batch")) return;
  const Json& batch = expected["batch"];
  for (size_t i = 0; i < batch["lengths"].size(); ++i) {
    const auto cut = [&](const char* key, const char* lengths = "lengths") {
      auto values = batch[key][i].get<std::vector<int64_t>>();
      values.resize(batch[lengths][i].get<size_t>());
      return values;
    };
    Example example;
    example.tokens = cut("tokens");
    if (batch.contains("token_types")) example.token_types = cut("token_types");
    if (batch.contains("decoder_tokens")) {
      example.decoder_tokens = cut("decoder_tokens", "decoder_lengths");
      example.targets = batch["targets"][i].get<std::vector<int64_t>>();
    } else if (batch.contains("labels")) {
      example.label = batch["labels"][i].get<int64_t>();
    } else if (batch.contains("numbers")) {
      example.number = batch["numbers"][i].get<double>();
    } else {
      example.targets.assign(example.tokens.begin() + 1, example.tokens.end());
      example.targets.push_back(kNoTarget);
    }
    examples.push_back(std::move(example));
  }
}

Batch HfGolden::batch() const {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < examples.size(); ++i) indices.push_back(static_cast<int64_t>(i));
  return make_batch(examples, indices, torch::kCPU);
}

Batch HfGolden::alone(int64_t example) const { return make_batch(examples, {example}, torch::kCPU); }

int64_t HfGolden::outputs() const {
  if (expected["batch"].contains("numbers")) return 1;
  return expected["batch"].contains("labels") ? 3 : 0;
}

HeadSet heads_of(const Json& layers, Kind kind) { return HeadSet::from_json({{to_string(kind), layers}}); }

torch::Tensor example_losses(const torch::Tensor& values, const Batch& batch) {
  if (batch.numbers.defined()) return (values.squeeze(1) - batch.numbers).square();
  if (batch.labels.defined()) return at::cross_entropy_loss(values, batch.labels, {}, at::Reduction::None);
  const torch::Tensor each =
      at::cross_entropy_loss(values.flatten(0, 1), batch.targets.flatten(), {}, at::Reduction::None, kNoTarget);
  const torch::Tensor counts = batch.targets.ne(kNoTarget).sum(1);
  return each.view_as(batch.targets).sum(1) / counts;
}

double gradient_difference(const HfGolden& golden) {
  const Batch batch = golden.batch();
  const auto model = golden.model();
  model->to(torch::kFloat64);
  const FrozenModel frozen(*model);
  HeadProbe probe;
  for (const BlockHeads& block : model->blocks())
    probe.gates.push_back(torch::ones({batch.size(), block.count()}, torch::kFloat64).requires_grad_());
  const torch::Tensor each = example_losses(model->forward(batch, probe).values, batch);
  double worst = (each - tensor_of(golden.expected["losses"])).abs().max().item<double>();
  const auto gradients = torch::autograd::grad({each.sum()}, probe.gates);
  const Json& expected = golden.expected["gate_gradients"];  // [N, L, H], of each kind where there are several
  const Blocks blocks = model->blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Json& of_kind = expected.is_object() ? expected[to_string(blocks[b].id.kind)] : expected;
    const torch::Tensor wanted = tensor_of(of_kind).select(1, blocks[b].id.layer);  // [N, H]
    worst = larger(worst, (gradients[b] - wanted).abs().max().item<double>());
  }
  return worst;
}

torch::Tensor tensor_of(const Json& json) {
  if (!json.is_array()) return torch::tensor(json.get<double>(), torch::kFloat64);
  std::vector<torch::Tensor> parts;
  for (const Json& part : json) parts.push_back(tensor_of(part));
  return torch::stack(parts);
}

double logits_difference(const torch::Tensor& values, const Json& expected) {
  double largest = 1, worst = 0;
  for (size_t row = 0; row < expected.size(); ++row) {
    const torch::Tensor wanted = tensor_of(expected[row]);
    torch::Tensor got = values[static_cast<int64_t>(row)].to(torch::kFloat64);
    if (got.dim() == 2) got = got.narrow(0, 0, wanted.size(0));
    largest = std::max(largest, wanted.abs().max().item<double>());
    worst = larger(worst, (got - wanted).abs().max().item<double>());
  }
  return worst / largest;
}

double alone_difference(TransformerModel& model, const HfGolden& golden, const Json& expected) {
  double worst = 0;
  for (size_t i = 0; i < golden.examples.size(); ++i) {
    const torch::Tensor values = model.forward(golden.alone(static_cast<int64_t>(i))).values;
    worst = larger(worst, logits_difference(values, Json::array({expected[i]})));
  }
  return worst;
}

}  // namespace headprune::testing
