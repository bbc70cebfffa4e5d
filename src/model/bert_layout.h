// What BERT, and RoBERTa with it, calls the tensors of the bare encoder.
#pragma once

#include <vector>

#include "model/hf_layout.h"

namespace headprune {

/// Embeddings, blocks and normalization; no pooler.
std::vector<HfTensor> bert_encoder_tensors(const TransformerConfig& sizes);
/// Sizes that both families spell alike; positions are `max_position_embeddings` less `position_offset`.
TransformerConfig bert_sizes(const HfConfig& config, int64_t position_offset);
/// Weight and bias of one layer.
void add_layer(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours);
/// The same of a layer of the task head. `prefixed`: it belongs to the bare model all the same.
void add_head_layer(std::vector<HfTensor>& tensors, const std::string& theirs, const std::string& ours,
                    bool prefixed = false);

}  // namespace headprune
