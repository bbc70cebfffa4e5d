// Family `encoder_decoder`: a transformer that writes a text from another (Vaswani et al. 2017).
#include "model/transformer_family.h"

namespace headprune {
namespace {

class EncoderDecoderFamily final : public TransformerFamily {
 public:
  struct Options : TransformerOptions {
    bool tie_embeddings = true;

    Options() { positions = Positions::sinusoidal; }

    template <class V>
    void fields(V& v) {
      TransformerOptions::fields(v);
      v("decoder_layers", decoder_layers, "layers of the decoder; default: as many as `layers`, those of the encoder",
        between(1, 1024));
      v("tie_embeddings", tie_embeddings, "logits use the target's token vectors; false: a layer of its own");
      hide_unused(v, {"decoder_layers", "tie_embeddings"});
    }
    CrossProblems problems() const { return problems_of(intact(), Options().intact()); }
    TransformerConfig intact() const {
      TransformerConfig config = TransformerOptions::config(Architecture::encoder_decoder);
      config.tie_embeddings = tie_embeddings;
      return config;
    }
  };

  explicit EncoderDecoderFamily(const Options& options) : TransformerFamily(options, options.intact()) {}
  bool predicts(DataKind kind) const override { return kind == DataKind::translation; }
};

const Register<ModelFamily, EncoderDecoderFamily> register_encoder_decoder{
    "encoder_decoder", "transformer that writes a text from another, with encoder, decoder and cross attention"};

}  // namespace
}  // namespace headprune
