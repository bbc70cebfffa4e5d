// Independent uniform numbers: the control that every other score has to beat. Several draws make a band.
#include "core/random.h"

#include "score/score.h"

namespace headprune {
namespace {

class RandomScore final : public ScoreMethod {
 public:
  struct Options {
    int64_t draws = 5;

    template <class V>
    void fields(V& v) {
      v("draws", draws, "independent draws; each is its own curve, drawn together as a band", at_least(1));
    }
  };
  explicit RandomScore(Options options) : options_(options) {}
  Needs needs() const override {
    Needs needs;
    needs.data = false;
    return needs;
  }
  int64_t draws() const override { return options_.draws; }

  std::unique_ptr<Pass> start(const ScoreInput& input, int64_t draw) const override {
    return std::make_unique<Draw>(input.model.blocks(), input.seed, draw);
  }

 private:
  class Draw final : public Pass {
   public:
    Draw(Blocks blocks, uint64_t seed, int64_t draw) : blocks_(std::move(blocks)), seed_(seed), draw_(draw) {}
    void add(const Observation&) override {}
    // A stream for each head: its number does not depend on which other heads the model has, nor on the label.
    RawScores finish() override {
      RawScores raw;
      for (const BlockHeads& block : blocks_) {
        std::vector<double> values;
        for (const int64_t head : block.heads) {
          const std::string name = fmt::format("score/random/{}/{}", draw_, to_string(HeadId{block.id, head}));
          values.push_back(Random(seed_, name).uniform());
        }
        raw.values.push_back(torch::tensor(values, torch::kFloat64));  // [H]
      }
      return raw;
    }

   private:
    Blocks blocks_;
    uint64_t seed_;
    int64_t draw_;
  };

  Options options_;
};

const Register<ScoreMethod, RandomScore> register_random{"random",
                                                         "independent uniform numbers, the control for every curve"};

}  // namespace
}  // namespace headprune
