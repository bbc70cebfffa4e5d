// Norm of the head's own weights: its rows of query, key and value and its columns of the output projection, without
// biases. Looks at no data. Keys and values that several heads read are no head's own and count for the group alone.
#include "model/attention.h"
#include "score/score.h"

namespace headprune {
namespace {

enum class MagnitudeNorm { l2, l1 };
enum class Part { q, k, v, o };

}  // namespace

template <>
struct EnumNames<MagnitudeNorm> {
  static constexpr std::pair<const char*, MagnitudeNorm> names[] = {{"l2", MagnitudeNorm::l2},
                                                                    {"l1", MagnitudeNorm::l1}};
};
template <>
struct EnumNames<Part> {
  static constexpr std::pair<const char*, Part> names[] = {
      {"q", Part::q}, {"k", Part::k}, {"v", Part::v}, {"o", Part::o}};
};

namespace {

class Magnitude final : public ScoreMethod {
 public:
  struct Options {
    MagnitudeNorm norm = MagnitudeNorm::l2;
    std::vector<Part> parts = {Part::q, Part::k, Part::v, Part::o};
    Normalize normalize = Normalize::none;
    std::optional<HeadUnit> unit;

    template <class V>
    void fields(V& v) {
      v("norm", norm, "l2: root of the sum of squares; l1: sum of absolute values");
      v("parts", parts,
        "projections that count: q, k, v and o; keys and values that heads share count with unit: group", not_empty);
      v("normalize", normalize, "how the scores of different blocks are made comparable");
      v("unit", unit, kScoreUnitHelp);
    }
  };
  explicit Magnitude(Options options) : options_(std::move(options)) {}
  Normalize normalize() const override { return options_.normalize; }
  HeadUnit unit() const override { return options_.unit.value_or(HeadUnit::query); }
  Needs needs() const override {
    Needs needs;
    needs.data = false;
    return needs;
  }
  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t) const override {
    return std::make_unique<Look>(options_, input);
  }

 private:
  class Look final : public Pass {
   public:
    Look(const Options& options, const ScoreInput& input)
        : options_(options), model_(input.model), units_(input.units()) {}
    void add(const Observation&) override {}

    RawScores finish() override {
      RawScores raw;
      for (size_t b = 0; b < units_.blocks().size(); ++b) {
        Attention& attention = model_.attention(b);
        const int64_t count = attention.head_count(), groups = std::ssize(attention.groups());
        if (count == 0) {
          raw.values.push_back(torch::zeros({0}, torch::kFloat64));
          continue;
        }
        torch::Tensor own = torch::zeros({count}, torch::kFloat64);      // [H]
        torch::Tensor shared = torch::zeros({groups}, torch::kFloat64);  // [G]
        if (counts(Part::q)) own = own + sizes(attention.query().weight, count);
        if (counts(Part::o)) own = own + sizes(attention.output().weight.t(), count);  // [H Dv, C]
        if (counts(Part::k)) shared = shared + sizes(attention.key().weight, groups);
        if (counts(Part::v)) shared = shared + sizes(attention.value().weight, groups);
        const torch::Tensor whole = units_.sum(own, shared, b);  // [U]
        raw.values.push_back(options_.norm == MagnitudeNorm::l2 ? whole.sqrt() : whole);
      }
      return raw;
    }

   private:
    bool counts(Part part) const {
      return std::find(options_.parts.begin(), options_.parts.end(), part) != options_.parts.end();
    }
    /// Of `weight` [n width, C], the sum over the rows of each of the n of what the norm adds up. [n]
    torch::Tensor sizes(const torch::Tensor& weight, int64_t n) const {
      const torch::Tensor rows = weight.detach().to(torch::kCPU, torch::kFloat64).reshape({n, -1});  // [n, width C]
      return (options_.norm == MagnitudeNorm::l2 ? rows.square() : rows.abs()).sum(1);
    }

    Options options_;
    Model& model_;
    ScoreUnits units_;
  };

  Options options_;
};

const Register<ScoreMethod, Magnitude> register_magnitude{"magnitude", "norm of the head's weights; looks at no data"};

}  // namespace
}  // namespace headprune
