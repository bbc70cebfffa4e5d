#include "hf_golden.h"

namespace headprune::testing {

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
  const torch::Tensor expected = tensor_of(golden.expected["gate_gradients"]);  // [N, L, H]
  for (size_t layer = 0; layer < gradients.size(); ++layer)
    worst = std::max(worst,
                     (gradients[layer] - expected.select(1, static_cast<int64_t>(layer))).abs().max().item<double>());
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
    worst = std::max(worst, (got - wanted).abs().max().item<double>());
  }
  return worst / largest;
}

}  // namespace headprune::testing
