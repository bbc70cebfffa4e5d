// Family `encoder`: a bidirectional transformer that classifies whole sequences (Vaswani et al. 2017's encoder with a
// linear classifier on one pooled vector).
#include "model/transformer_family.h"

namespace headprune {
namespace {

class EncoderFamily final : public TransformerFamily {
 public:
  struct Options : TransformerOptions {
    Pooling pooling = Pooling::cls;

    template <class V>
    void fields(V& v) {
      TransformerOptions::fields(v);
      v("pooling", pooling, "what the classifier looks at: the first position (cls), or the mean over all (mean)");
      hide_unused(v, {"pooling"});
    }
    CrossProblems problems() const { return problems_of(intact(), Options().intact()); }
    TransformerConfig intact() const {
      TransformerConfig config = TransformerOptions::config(Architecture::encoder);
      config.pooling = pooling;
      return config;
    }
  };

  explicit EncoderFamily(const Options& options) : TransformerFamily(options, options.intact()) {}
  bool predicts(DataKind kind) const override { return kind == DataKind::labelled || kind == DataKind::numbered; }
};

const Register<ModelFamily, EncoderFamily> register_encoder{
    "encoder", "bidirectional transformer with a classifier on one pooled vector"};

}  // namespace
}  // namespace headprune
