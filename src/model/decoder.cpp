// Family `decoder`: a causal transformer that predicts each next token (Radford et al. 2019's arrangement with
// norm: pre and learned positions).
#include "model/transformer_family.h"

namespace headprune {
namespace {

class DecoderFamily final : public TransformerFamily {
 public:
  struct Options : TransformerOptions {
    bool tie_embeddings = true;

    template <class V>
    void fields(V& v) {
      TransformerOptions::fields(v);
      v("tie_embeddings", tie_embeddings, "logits use the token vectors; false: a layer of its own");
      hide_unused(v, {"tie_embeddings"});
    }
    CrossProblems problems() const { return problems_of(intact(), Options().intact()); }
    TransformerConfig intact() const {
      TransformerConfig config = TransformerOptions::config(Architecture::decoder);
      config.tie_embeddings = tie_embeddings;
      return config;
    }
  };

  explicit DecoderFamily(const Options& options) : TransformerFamily(options, options.intact()) {}
  bool predicts(DataKind kind) const override { return is_language(kind); }
};

const Register<ModelFamily, DecoderFamily> register_decoder{"decoder",
                                                            "causal transformer that predicts the next token"};

}  // namespace
}  // namespace headprune
