// The tables and a sweep on a real model in which one head of a block does all the work.
#include "data/batch.h"
#include "data/vocabulary.h"
#include "model/attention.h"
#include "model/transformer.h"
#include "support.h"

using namespace headprune;
using namespace headprune::test;

namespace {

/// Evaluates points by the share of examples whose class stays that of the intact model.
class AgreementHost final : public NotingHost {
 public:
  AgreementHost(Transformer& model, Batch batch)
      : NotingHost(model.blocks(), no_scores), model_(model), batch_(std::move(batch)) {
    wanted_ = classes(model, {});
  }
  void evaluate(Model& model, const PlannedPoint& point) override {
    points.push_back(point);
    agreement.push_back(agree(model, point.removed));
  }
  SelectValues select(const HeadSet& gone, const std::vector<HeadSet>& masks) override {
    REQUIRE(gone.empty());
    SelectValues result;
    for (const HeadSet& mask : masks) result.values.push_back({agree(model_, mask), 0});
    return result;
  }
  std::vector<double> agreement;

 private:
  torch::Tensor classes(Model& model, const HeadSet& removed) const {
    const FrozenModel frozen(model);
    const torch::NoGradGuard guard;
    HeadProbe probe;
    probe.gates = mask_gates(model.blocks(), removed, torch::kCPU);
    return model.forward(batch_, probe).values.argmax(-1);  // [B]
  }
  double agree(Model& model, const HeadSet& removed) const {
    return (classes(model, removed) == wanted_).to(torch::kFloat64).mean().item<double>();
  }
  Model& model_;
  Batch batch_;
  torch::Tensor wanted_;
};

}  // namespace

TEST_CASE("the tables find the one head that a block needs and those it does not", "[prune]") {
  TransformerConfig config;
  config.d_model = 8;
  config.layers = 2;
  config.heads = 3;
  config.d_key = config.d_value = 4;
  config.d_ff = 8;
  config.vocabulary_size = 12;
  config.max_length = 6;
  config.outputs = 4;
  Transformer model(config);
  initialise(model, 5);
  {
    // Heads 0 and 2 of the last block give nothing; head 1 gives enough to decide the class.
    const torch::NoGradGuard guard;
    torch::Tensor output = model.attention(1).output().weight;  // [C, H Dv]
    output.slice(1, 0, 4).zero_();
    output.slice(1, 8, 12).zero_();
    output.slice(1, 4, 8).mul_(50);
  }
  std::vector<Example> examples;
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < 64; ++i) {
    Example example;
    example.tokens = {Vocabulary::kClassification, 4 + i % 8, 4 + (i / 8) % 8, 4 + (3 * i) % 7};
    example.label = 0;
    examples.push_back(example);
    indices.push_back(i);
  }
  AgreementHost host(model, make_batch(examples, indices, torch::kCPU));
  SensitivityOptions options;
  options.tables = {Table::leave_one_out, Table::all_but_one, Table::layer_removed};
  run_tables(options, sweep_input("", "", model, {}), model, host);
  REQUIRE(host.points.size() == 6 + 2 + 2);
  CHECK(host.agreement[3] == 1);  // without encoder.L1.H0
  CHECK(host.agreement[4] < 1);   // without encoder.L1.H1
  CHECK(host.agreement[5] == 1);  // without encoder.L1.H2
  CHECK(names(host.points[7].removed) == std::vector<std::string>{"encoder.L1.H0", "encoder.L1.H2"});
  CHECK(host.agreement[7] == 1);                  // all but encoder.L1.H1
  CHECK(host.agreement[9] == host.agreement[4]);  // without the whole block
}
