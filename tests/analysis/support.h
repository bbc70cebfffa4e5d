// Models whose heads are known, data to look at, and analyses chosen as in a configuration file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "score/support.h"

namespace headprune::test {

/// Ids 4 to 10 are a b c d e f "." ; texts train tells how often each stands there.
Dataset dataset_of(const std::vector<Example>& texts, const std::vector<Example>& train);

/// [CLS], the tokens, [SEP] where asked for.
Example text_of(const std::vector<int64_t>& ids, bool separator = true);

/// An analysis with its options as YAML has them: "positional", "{rare: {frequent: 0}}".
std::shared_ptr<const Analysis> make_analysis(const std::string& yaml);

struct Looked {
  int64_t batch_size = 3;
  bool reverse = false;
};
/// Of `texts`, whose frequencies are their own.
AnalysisResult analyse(const std::string& yaml, TransformerModel& model, const std::vector<Example>& texts,
                       const Looked& how = {});

/// Fails the test where there is none of that name.
const HeadColumn& column(const AnalysisResult& result, const std::string& name);

/// "encoder.L0.H3 positional: offset -1", in the order in which they were found.
std::vector<std::string> role_texts(const AnalysisResult& result, const Blocks& blocks);

/// What one head does in a planted model.
enum class Plant { previous, next, first, itself, separator, rarest, same, uniform, induction };

/// A transformer of one layer for each list (of equal lengths), built by hand: tokens and positions are unit vectors,
/// and each head attends where its plant says, with a weight above 0.99. An `induction` head needs a `previous` one in
/// the layer below. `same` looks at the first occurrence of its own token. Of tokens, the higher the id, the rarer.
/// Vocabulary of 11, texts of at most 24 tokens.
std::shared_ptr<TransformerModel> planted(const std::vector<std::vector<Plant>>& layers, Architecture architecture);

}  // namespace headprune::test
