// The small Marian model of tests/golden/make_marian.py.
#pragma once

#include "model/encoder_decoder_model.h"
#include "model/hf_golden.h"

namespace headprune::testing {

struct MarianGolden : HfGolden {
  MarianGolden() : HfGolden("marian") {}
  std::shared_ptr<EncoderDecoder> model() const { return std::dynamic_pointer_cast<EncoderDecoder>(HfGolden::model()); }
};

}  // namespace headprune::testing
