// Family `encoder_decoder`: a transformer that writes a text from another (Vaswani et al. 2017).
#include "model/transformer_family.h"

namespace headprune {
namespace {

/// Why queries of one text and keys of another cannot have this pattern.
std::string cross_problem(const std::string& pattern) {
  constexpr const char* kUse = "leave cross_attention at full";
  if (pattern == LocalOptions::kName)
    return fmt::format("local keeps to keys near the query, and a token of the target stands nowhere in the source; {}",
                       kUse);
  if (pattern == StridedOptions::kName)
    return fmt::format(
        "strided counts keys back from the query, and a token of the target stands nowhere in the source; {}", kUse);
  return fmt::format("{} divides one text into blocks, and the texts of a translation differ in length; {}", pattern,
                     kUse);
}

class EncoderDecoderFamily final : public TransformerFamily {
 public:
  struct Options : TransformerOptions {
    bool tie_embeddings = true;
    PluginItem<PatternChoice> cross_attention{FullOptions::kName};

    Options() { positions = Positions::sinusoidal; }

    template <class V>
    void fields(V& v) {
      TransformerOptions::fields(v);
      v("decoder_layers", decoder_layers, "layers of the decoder; default: as many as `layers`, those of the encoder",
        between(1, 1024));
      v("tie_embeddings", tie_embeddings, "logits use the target's token vectors; false: a layer of its own");
      v("cross_attention", cross_attention, "which tokens of the source those of the target see: full, so all");
      if (cross_attention.type == FullOptions::kName) v.hide({"cross_attention"});
      hide_unused(v, {"decoder_layers", "tie_embeddings", "cross_attention"});
    }
    CrossProblems problems() const {
      CrossProblems found = problems_of(intact(), Options().intact());
      if (cross_attention.type != FullOptions::kName)
        found.emplace_back("cross_attention", cross_problem(cross_attention.type));
      return found;
    }
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
