#include "model/linear.h"

#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

/// The library of a test, and the one before again after it.
class WithLibrary {
 public:
  explicit WithLibrary(LinearLibrary library) : before_(linear_library()) { use_linear_library(library); }
  ~WithLibrary() { use_linear_library(before_); }

 private:
  LinearLibrary before_;
};

torch::Tensor float_tensor(const std::vector<int64_t>& shape, uint64_t seed) {
  return random_tensor(shape, seed).to(torch::kFloat32);
}

TEST_CASE("both libraries give the same product and gradients, and only those that are wanted", "[model]") {
  if (!at::globalContext().hasMKLDNN()) {
    WARN("this LibTorch has no oneDNN");
    return;
  }
  struct Case {
    std::vector<int64_t> shape;
    int64_t outputs;
    bool strided;
  };
  for (const Case& one : {Case{{6, 5}, 3, false}, Case{{2, 4, 5}, 7, false}, Case{{3, 1, 5}, 1, false},
                          Case{{2, 4, 5}, 2, true}, Case{{2, 4, 5}, 0, false}})
    for (int wanted = 0; wanted < 8; ++wanted)
      for (const bool biased : {true, false}) {
        INFO(one.shape.size() << "-d, " << one.outputs << " outputs, wanted " << wanted << ", bias " << biased);
        const torch::Tensor whole = float_tensor({2, 9, 5}, 1);
        torch::Tensor x = one.strided ? whole.narrow(1, 2, 4) : float_tensor(one.shape, 2);
        torch::Tensor weight = float_tensor({one.outputs, 5}, 3);
        torch::Tensor bias = biased ? float_tensor({one.outputs}, 4) : torch::Tensor();
        std::vector<torch::Tensor> leaves;
        const std::vector<std::pair<torch::Tensor*, int>> choices = {{&x, 1}, {&weight, 2}, {&bias, 4}};
        for (const auto& [tensor, bit] : choices)
          if ((wanted & bit) != 0 && tensor->defined()) leaves.push_back(tensor->requires_grad_());
        std::vector<std::vector<torch::Tensor>> found;
        for (const LinearLibrary library : {LinearLibrary::blas, LinearLibrary::onednn}) {
          const WithLibrary with(library);
          const torch::Tensor y = linear_layer(x, weight, bias);
          CHECK(y.requires_grad() == !leaves.empty());
          found.push_back({y.detach()});
          if (leaves.empty()) continue;
          const torch::Tensor loss = (y * torch::arange(y.numel(), torch::kFloat32).view(y.sizes())).sum();
          for (const torch::Tensor& gradient : torch::autograd::grad({loss}, leaves)) found.back().push_back(gradient);
        }
        REQUIRE(found[0].size() == found[1].size());
        for (size_t i = 0; i < found[0].size(); ++i)
          CHECK(max_difference(found[0][i], found[1][i]) <=
                1e-4 * (1 + (found[0][i].numel() > 0 ? found[0][i].abs().max().item<double>() : 0)));
      }
}

TEST_CASE("a model gives the same logits and gradients with either library", "[model]") {
  if (!at::globalContext().hasMKLDNN()) {
    WARN("this LibTorch has no oneDNN");
    return;
  }
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const auto model = small_model(small_config(kind));
    Batch batch;
    batch.examples = {0, 1};
    batch.tokens = torch::tensor({1, 2, 3, 4, 5, 6}, torch::kInt64).view({2, 3});
    batch.present = torch::ones({2, 3}, torch::kBool);
    std::vector<std::vector<torch::Tensor>> found;
    for (const LinearLibrary library : {LinearLibrary::blas, LinearLibrary::onednn}) {
      const WithLibrary with(library);
      const torch::Tensor values = model->forward(batch).values;
      found.push_back({values.detach()});
      for (const torch::Tensor& gradient : torch::autograd::grad({values.tanh().sum()}, model->parameters()))
        found.back().push_back(gradient);
    }
    for (size_t i = 0; i < found[0].size(); ++i) CHECK(max_difference(found[0][i], found[1][i]) < 1e-5);
  }
}

}  // namespace
}  // namespace headprune
