#include "analysis/support.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/load.h"
#include "data/vocabulary.h"
#include "model/attention.h"

namespace headprune::test {

Dataset dataset_of(const std::vector<Example>& texts, const std::vector<Example>& train) {
  const auto split = [](const std::vector<Example>& examples) {
    auto one = std::make_shared<Split>();
    one->name = "train";
    one->examples = examples;
    return one;
  };
  Dataset dataset;
  dataset.tokenizer = std::make_shared<const Vocabulary>(Vocabulary::of({"a", "b", "c", "d", "e", "f", "."}));
  dataset.train = split(train);
  dataset.score = dataset.select = dataset.report = split(texts);
  return dataset;
}

Example text_of(const std::vector<int64_t>& ids, bool separator) {
  Example example;
  example.tokens.push_back(Vocabulary::kClassification);
  example.tokens.insert(example.tokens.end(), ids.begin(), ids.end());
  if (separator) example.tokens.push_back(Vocabulary::kSeparator);
  example.special = {0};
  example.label = 0;
  return example;
}

namespace {

struct AnalysisHolder {
  std::vector<PluginItem<Analysis>> methods;
  template <class V>
  void fields(V& v) {
    v("methods", methods, "analyses");
  }
};

}  // namespace

std::shared_ptr<const Analysis> make_analysis(const std::string& yaml) {
  const auto loaded = load_config<AnalysisHolder>(ConfigText{"test.yaml", "methods: [" + yaml + "]\n", "."});
  return loaded.value.methods.at(0).make();
}

AnalysisResult analyse(const std::string& yaml, TransformerModel& model, const std::vector<Example>& texts,
                       const Looked& how) {
  const Dataset dataset = dataset_of(texts, texts);
  const std::vector<Batch> batches = batches_of(texts, how.batch_size, how.reverse);
  return headprune::analyse(
             {make_analysis(yaml)},
             {.model = model, .dataset = dataset, .split = *dataset.score, .batches = batches, .seed = 3})
      .at(0);
}

const HeadColumn& column(const AnalysisResult& result, const std::string& name) {
  const auto found = std::find_if(result.columns.begin(), result.columns.end(),
                                  [&](const HeadColumn& one) { return one.name == name; });
  REQUIRE(found != result.columns.end());
  return *found;
}

std::vector<std::string> role_texts(const AnalysisResult& result, const Blocks& blocks) {
  std::vector<std::string> texts;
  for (const HeadRole& role : result.roles) {
    const BlockHeads& block = blocks[role.block];
    texts.push_back(to_string(HeadId{block.id, block.heads[static_cast<size_t>(role.position)]}) + " " + role.role +
                    (role.detail.empty() ? "" : ": " + role.detail));
  }
  return texts;
}

namespace {

constexpr int64_t kPlaces = 24, kTokens = 11;
// The residual stream: position, token, and what a head of a layer below has copied.
constexpr int64_t kPosition = 0, kToken = kPlaces, kCopied = kPlaces + kTokens, kWidth = kPlaces + 2 * kTokens;
constexpr double kSharp = 40;

/// Rows of one head's matrices.
struct HeadRows {
  torch::Tensor query, key, query_bias, value, output;  // [Dk, C], [Dk, C], [Dk], [Dv, C], [C, Dv]
};

void plant(const HeadRows& head, Plant what) {
  const auto at_offset = [&](int64_t offset) {
    for (int64_t place = 0; place < kPlaces; ++place) {
      const int64_t asker = place - offset;
      head.key[place][kPosition + place] = kSharp;
      if (asker >= 0 && asker < kPlaces) head.query[place][kPosition + asker] = 1;
    }
  };
  const auto to_one = [&](int64_t feature, double weight) {
    head.query_bias[0] = 1;
    head.key[0][feature] = weight;
  };
  switch (what) {
    case Plant::previous:
      at_offset(-1);
      break;
    case Plant::next:
      at_offset(1);
      break;
    case Plant::itself:
      at_offset(0);
      break;
    case Plant::first:
      to_one(kPosition, kSharp);
      break;
    case Plant::separator:
      to_one(kToken + Vocabulary::kSeparator, kSharp);
      break;
    case Plant::rarest:
      for (int64_t id = 4; id < kTokens; ++id) to_one(kToken + id, kSharp * static_cast<double>(id) / 4);
      break;
    case Plant::same:
      for (int64_t id = 0; id < kTokens; ++id) {
        head.query[id][kToken + id] = 1;
        head.key[id][kToken + id] = kSharp;
      }
      head.query_bias[kTokens] = 1;
      for (int64_t place = 0; place < kPlaces; ++place)
        head.key[kTokens][kPosition + place] = 5 * static_cast<double>(kPlaces - place);
      break;
    case Plant::uniform:
      break;
    case Plant::induction:
      for (int64_t id = 0; id < kTokens; ++id) {
        head.query[id][kToken + id] = 1;
        head.key[id][kCopied + id] = kSharp;
      }
      break;
  }
  // What it looks at it copies: an induction head onto the token, others to where a layer above finds it.
  for (int64_t id = 0; id < kTokens; ++id) {
    head.value[id][kToken + id] = 1;
    if (what == Plant::induction) head.output[kToken + id][id] = 1;
    if (what == Plant::previous) head.output[kCopied + id][id] = 1;
  }
}

}  // namespace

std::shared_ptr<TransformerModel> planted(const std::vector<std::vector<Plant>>& layers, Architecture architecture) {
  at::set_num_threads(1);
  TransformerConfig config;
  config.architecture = architecture;
  config.d_model = kWidth;
  config.layers = std::ssize(layers);
  config.heads = std::ssize(layers.front());
  config.d_key = kPlaces;
  config.d_value = kTokens;
  config.d_ff = 1;
  config.tie_embeddings = false;
  config.vocabulary_size = kTokens;
  config.max_length = kPlaces;
  config.outputs = architecture == Architecture::encoder ? 2 : 0;
  const std::shared_ptr<TransformerModel> model = make_transformer(config);
  model->to(torch::kFloat64);
  model->eval();
  const torch::NoGradGuard no_gradients;
  auto parameters = model->named_parameters();
  for (auto& entry : parameters)
    if (entry.key().find("norm") != std::string::npos) entry.value().fill_(entry.key().ends_with("weight") ? 1 : 0);
  const auto units = [](int64_t count, int64_t first) {
    torch::Tensor rows = torch::zeros({count, kWidth}, torch::kFloat64);
    rows.narrow(1, first, count).copy_(torch::eye(count, torch::kFloat64));
    return rows;
  };
  parameters["embeddings.tokens"].copy_(units(kTokens, kToken));
  parameters["embeddings.positions"].copy_(units(kPlaces, kPosition));
  if (parameters.contains("head.weight") && architecture == Architecture::decoder)
    parameters["head.weight"].copy_(units(kTokens, kToken));
  for (size_t b = 0; b < layers.size(); ++b) {
    Attention& attention = model->attention(b);
    for (int64_t h = 0; h < config.heads; ++h) {
      const HeadRows rows{attention.query().weight.narrow(0, h * kPlaces, kPlaces),
                          attention.key().weight.narrow(0, h * kPlaces, kPlaces),
                          attention.query().bias.narrow(0, h * kPlaces, kPlaces),
                          attention.value().weight.narrow(0, h * kTokens, kTokens),
                          attention.output().weight.narrow(1, h * kTokens, kTokens)};
      plant(rows, layers[b][static_cast<size_t>(h)]);
    }
  }
  return model;
}

}  // namespace headprune::test
