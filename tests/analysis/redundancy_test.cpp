// Distances between heads: plain loops over one text at a time, and heads that are copies of each other.
#include <cmath>
#include <numeric>

#include "analysis/support.h"
#include "model/attention.h"

using namespace headprune;
using namespace headprune::test;

namespace {

double number(const AnalysisResult& result, const std::string& a, const std::string& b, size_t column) {
  for (const std::vector<Json>& row : result.tables.at(0).rows)
    if (row[0] == a && row[1] == b) return row[column].is_null() ? NAN : row[column].get<double>();
  FAIL("no pair " << a << ", " << b);
  return 0;
}

/// One text's outputs of a head, [T, C].
torch::Tensor output_of(const Subject& subject, const HeadTrace& seen, size_t block, int64_t head) {
  Attention& attention = subject.model->attention(block);
  const torch::Tensor weight = attention.output().weight.narrow(1, head * attention.value_width(),
                                                                attention.value_width());  // [C, Dv]
  return seen.contexts[block][0][head].matmul(weight.t());                                 // [T, C]
}

/// Song et al. 2012, eq. 5, times n (n - 3), by its definition. It does not depend on a shift, which would cost digits.
double hsic(torch::Tensor x, torch::Tensor y) {
  const int64_t n = x.size(0);
  x = x - x.mean(0, true);
  y = y - y.mean(0, true);
  torch::Tensor k = x.matmul(x.t()).clone(), l = y.matmul(y.t()).clone();
  k.fill_diagonal_(0);
  l.fill_diagonal_(0);
  double trace = 0, all_k = 0, all_l = 0, product = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      trace += k[i][j].item<double>() * l[j][i].item<double>();
      all_k += k[i][j].item<double>();
      all_l += l[i][j].item<double>();
      for (int64_t m = 0; m < n; ++m) product += k[i][j].item<double>() * l[j][m].item<double>();
    }
  const auto size = static_cast<double>(n);
  return trace + all_k * all_l / ((size - 1) * (size - 2)) - 2 * product / (size - 2);
}

}  // namespace

TEST_CASE("distances between heads equal plain loops", "[analysis][redundancy]") {
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    CAPTURE(to_string(kind));
    Subject subject = make_subject(kind, torch::kFloat64);
    subject.examples = {subject.examples[1]};  // six tokens
    const AnalysisResult result = analyse("redundancy", *subject.model, subject.examples);
    const FrozenModel frozen(*subject.model);
    const torch::NoGradGuard no_gradients;
    const Batch text = batches_of(subject.examples, 1)[0];
    const HeadTrace seen = subject.model->forward(text, {.gates = {}, .weights = true, .contexts = true}).heads;
    const std::string name = to_string(kind);
    for (const auto& [block, head] : std::vector<std::pair<size_t, int64_t>>{{0, 1}, {1, 0}, {1, 2}}) {
      const std::string other = fmt::format("{}.L{}.H{}", name, block, head);
      const torch::Tensor p = seen.weights[0][0][0], q = seen.weights[block][0][head];  // [T, T]
      double js = 0, rows = 0;
      for (int64_t t = kind == Kind::decoder ? 1 : 0; t < 6; ++t, ++rows)
        for (int64_t s = 0; s < 6; ++s) {
          const double a = p[t][s].item<double>(), b = q[t][s].item<double>(), m = (a + b) / 2;
          if (a > 0) js += a * std::log(a / m) / 2;
          if (b > 0) js += b * std::log(b / m) / 2;
        }
      CHECK(number(result, name + ".L0.H0", other, 2) == Approx(js / rows).epsilon(1e-9));
      const torch::Tensor x = output_of(subject, seen, 0, 0), y = output_of(subject, seen, block, head);
      CHECK(number(result, name + ".L0.H0", other, 3) ==
            Approx(hsic(x, y) / std::sqrt(hsic(x, x) * hsic(y, y))).epsilon(1e-9));
      double cosine = 0;
      for (int64_t t = 0; t < 6; ++t) cosine += (x[t].dot(y[t]) / (x[t].norm() * y[t].norm())).item<double>() / 6;
      CHECK(number(result, name + ".L0.H0", other, 4) == Approx(cosine).epsilon(1e-9));
    }
  }
}

TEST_CASE("a head and its copy are the same, a turned copy attends alike and writes the opposite",
          "[analysis][redundancy]") {
  const Subject subject = make_subject(Kind::encoder, torch::kFloat64);
  const torch::NoGradGuard no_gradients;
  Attention& attention = subject.model->attention(0);
  for (Projection* projection : {&attention.query(), &attention.key()}) {
    projection->weight.narrow(0, 3, 3).copy_(projection->weight.narrow(0, 0, 3));
    projection->bias.narrow(0, 3, 3).copy_(projection->bias.narrow(0, 0, 3));
  }
  attention.value().weight.narrow(0, 2, 2).copy_(attention.value().weight.narrow(0, 0, 2));
  attention.value().bias.narrow(0, 2, 2).copy_(attention.value().bias.narrow(0, 0, 2));
  attention.output().weight.narrow(1, 2, 2).copy_(-attention.output().weight.narrow(1, 0, 2));
  const AnalysisResult result = analyse("redundancy", *subject.model, subject.examples);
  const std::vector<Json>& closest = result.tables[0].rows[0];
  CHECK(closest[0] == "encoder.L0.H0");
  CHECK(closest[1] == "encoder.L0.H1");
  CHECK(closest[2].get<double>() == Approx(0).margin(1e-12));
  CHECK(closest[3].get<double>() == Approx(1).epsilon(1e-9));  // CKA knows no direction
  CHECK(closest[4].get<double>() == Approx(-1).epsilon(1e-9));
  CHECK(column(result, "js_nearest").values[0][1].item<double>() == Approx(0).margin(1e-12));
  CHECK(column(result, "cka_nearest").values[0][0].item<double>() == Approx(1).epsilon(1e-9));
}

TEST_CASE("the score redundancy is the greedy removal on the analysis's distances", "[analysis][redundancy]") {
  for (const char* measure : {"js", "cka", "cosine"})
    for (const Kind kind : kFamilies) {
      CAPTURE(measure, to_string(kind));
      const Subject subject = make_subject(kind, torch::kFloat64);
      const std::string options = fmt::format("{{redundancy: {{measure: {}, texts: 5}}}}", measure);
      const AnalysisResult result = analyse(options, *subject.model, subject.examples);
      const auto matrix = std::find_if(result.matrices.begin(), result.matrices.end(),
                                       [&](const HeadMatrix& one) { return one.name == measure; });
      REQUIRE(matrix != result.matrices.end());
      CHECK(matrix->cut == 0.7);
      const std::vector<double> apart = matrix->distances();
      const int64_t heads = matrix->heads();
      const auto between = [&](int64_t a, int64_t b) {
        const double value = apart[static_cast<size_t>(a * heads + b)];
        return std::isfinite(value) ? value : 1e9;
      };
      const Importance importance = score(options, subject, {.batch_size = 2, .reverse = true});
      std::vector<double> values;
      for (const torch::Tensor& block : importance.values)
        for (int64_t h = 0; h < block.size(0); ++h) values.push_back(block[h].item<double>());
      REQUIRE(std::ssize(values) == heads);
      // By plain loops: take away the lowest value again and again; it is what it had to its nearest survivor, and no
      // other survivor had a nearer one.
      std::vector<int64_t> left(values.size());
      std::iota(left.begin(), left.end(), 0);
      double most = 0;
      for (const double value : apart)
        if (std::isfinite(value)) most = std::max(most, value);
      while (!left.empty()) {
        const auto nearest = [&](int64_t one) {
          double smallest = 1e9;
          for (const int64_t other : left)
            if (other != one) smallest = std::min(smallest, between(one, other));
          return smallest;
        };
        const auto goes = std::min_element(left.begin(), left.end(), [&](int64_t a, int64_t b) {
          return values[static_cast<size_t>(a)] < values[static_cast<size_t>(b)];
        });
        double smallest = 1e9;
        for (const int64_t one : left) smallest = std::min(smallest, nearest(one));
        const double expected = smallest < 1e9 ? smallest : 2 * most;
        CHECK(values[static_cast<size_t>(*goes)] == Approx(expected).epsilon(1e-9).margin(1e-12));
        if (smallest < 1e9) CHECK(nearest(*goes) == Approx(smallest).epsilon(1e-9).margin(1e-12));
        left.erase(goes);
      }
      CHECK(importance.examples == 5);
      CHECK(importance.forward == result.forward);
    }
}

TEST_CASE("clusters hold copies together, and every head once", "[analysis][redundancy]") {
  const Subject subject = make_subject(Kind::cross, torch::kFloat64);
  const AnalysisResult result = analyse("{redundancy: {cut: 0.3}}", *subject.model, subject.examples);
  const AnalysisTable& table = result.tables.at(1);
  CHECK(table.name == "clusters");
  int64_t heads = 0;
  for (const std::vector<Json>& row : table.rows) {
    const auto members = row[1].get<std::string>();
    heads += row[2].get<int64_t>();
    CHECK(std::count(members.begin(), members.end(), ' ') + 1 == row[2].get<int64_t>());
    // Heads of different kinds see different keys.
    for (size_t at = members.find(' '); at != std::string::npos; at = members.find(' ', at + 1))
      CHECK(members.substr(at + 1, 3) == members.substr(0, 3));
  }
  CHECK(heads == 18);
}

TEST_CASE("heads that see different keys have no distance of attention, and it is said", "[analysis][redundancy]") {
  const Subject subject = make_subject(Kind::cross, torch::kFloat64);
  const AnalysisResult result = analyse("redundancy", *subject.model, subject.examples);
  for (const std::vector<Json>& row : result.tables[0].rows) {
    const auto kind = [](const Json& head) { return head.get<std::string>().substr(0, 3); };
    CHECK(kind(row[0]) == kind(row[1]));
  }
  // 6 heads of each of three kinds: 3 x 36 pairs across.
  CHECK_THAT(result.notes.back(), ContainsSubstring("108 pairs of heads see different keys"));
}
