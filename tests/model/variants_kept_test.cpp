// What is kept, counted and said of every kind of positions and pattern: folders, exports, costs, initial weights, and
// the tables of docs/attention.md.
#include "config/load.h"
#include "core/files.h"
#include "model/checkpoint.h"
#include "model/cost.h"
#include "model/export.h"
#include "model/family.h"
#include "model/folder.h"
#include "model/idle_patterns.h"
#include "model/variants.h"

namespace headprune {

using namespace testing;

namespace {

struct VariantSection {
  Plugin<ModelFamily> model{"encoder"};
  template <class V>
  void fields(V& v) {
    v("model", model, "the model");
  }
};

/// What an encoder-decoder with that pattern of cross-attention is refused with.
std::string cross_attention_problem(const std::string& pattern) {
  const std::string text = "model: {type: encoder_decoder, cross_attention: " + pattern + "}\n";
  try {
    load_config<VariantSection>(ConfigText{.name = "variant.yaml", .text = text, .folder = {}});
  } catch (const ConfigError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics().front().message;
  }
  return "";
}

}  // namespace

TEST_CASE("the tables of docs/attention.md are those of the variants", "[model][variants]") {
  std::string table = "| positions |", line = "\n| --- |";
  for (const auto& [pattern, options] : kPatterns) {
    table += fmt::format(" `{}` |", pattern);
    line += " --- |";
  }
  table += line + "\n";
  for (const NamedPositions& positions : kPositions) {
    table += fmt::format("| {} |", positions.name);
    for (const auto& [pattern, options] : kPatterns) {
      std::string cell;
      for (const auto& [letter, architecture] :
           {std::pair("E", Architecture::encoder), std::pair("D", Architecture::decoder),
            std::pair("T", Architecture::encoder_decoder)}) {
        const auto model = variant_model(variant(architecture, positions, options));
        if (model->forward(variant_batch(model->sizes())).values.isfinite().all().item<bool>())
          cell += fmt::format(" {}", letter);
      }
      table += cell + " |";
    }
    table += "\n";
  }
  table += "\n| cross-attention | |\n| --- | --- |\n| `full` | yes, without positions inside attention |\n";
  for (const char* pattern : {"local: {window: 2}", "strided: {stride: 2}", "fixed: {stride: 2, summary: 1}"}) {
    const std::string name(pattern, std::string(pattern).find(':'));
    const std::string problem = cross_attention_problem(fmt::format("{{{}}}", pattern));
    table += fmt::format("| `{}` | refused: {} |\n", name, problem);
  }
  const std::string page = read_file(fs::path(HEADPRUNE_SOURCE_DIR) / "docs/attention.md");
  INFO(table);
  CHECK(page.find(table) != std::string::npos);
}

TEST_CASE("each variant is saved with and without heads, read again and pruned further", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  const TestFolder folder;
  int64_t count = 0;
  const auto reloaded = [&](const Model& model) {
    const fs::path path = folder / fmt::format("model-{}", ++count);
    FolderWriter writer(path);
    write_model(writer, model, nullptr, {});
    writer.commit();
    const ModelFolder saved = read_model_folder(path);
    CHECK(saved.config == dynamic_cast<const TransformerModel&>(model).sizes());
    return load_model(saved, torch::kCPU);
  };
  for_each_variant([&](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    HeadSet removed = alternating(model->blocks());
    CHECK(torch::equal(real_logits(*reloaded(*model), batch), real_logits(*model, batch)));
    const auto pruned = model->copy();
    pruned->remove_heads(removed);
    const auto loaded = reloaded(*pruned);
    CHECK(torch::equal(real_logits(*loaded, batch), real_logits(*pruned, batch)));
    removed.insert({model->blocks().front().id, 3});
    loaded->remove_heads(removed);
    const PerBlock gates = mask_gates(model->blocks(), removed, torch::kCPU);
    CHECK(max_difference(real_logits(*loaded, batch), real_logits(*model, batch, {.gates = gates})) < 1e-5);
  });
}

TEST_CASE("each kind of positions and each pattern is exported, compact and zeroed", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  const TestFolder folder;
  // An export compares logits and texts by itself; each kind of positions meets one pattern and one architecture.
  for (size_t i = 0; i < std::size(kPositions); ++i) {
    const Architecture architecture = EnumNames<Architecture>::names[i % 3].second;
    const TransformerConfig config =
        variant(architecture, kPositions[i], kPatterns[(i + i / 4) % std::size(kPatterns)].second);
    INFO(config_to_json(config, {}).dump());
    const auto model = variant_model(config);
    const Batch batch = variant_batch(config);
    const HeadSet removed = alternating(model->blocks());
    const fs::path source = folder / fmt::format("source-{}", i);
    FolderWriter writer(source);
    write_model(writer, *model, nullptr, {});
    writer.commit();
    const torch::Tensor masked =
        real_logits(*model, batch, {.gates = mask_gates(model->blocks(), removed, torch::kCPU)});
    for (const ExportForm form : {ExportForm::compact, ExportForm::zeroed}) {
      const fs::path target = folder / fmt::format("{}-{}", enum_name(form), i);
      export_model({.model = source, .removed = removed, .form = form, .target = target, .metadata = {}});
      CHECK(max_difference(real_logits(*load_model(read_model_folder(target), torch::kCPU), batch), masked) < 1e-5);
    }
  }
}

TEST_CASE("parameters of positions have a layer, and begin small or at 0", "[model][variants]") {
  for_each_variant([](const TransformerConfig& config) {
    const auto model = make_transformer(config);
    initialise(*model, 3);
    const int64_t layers = config.layers + (config.writes_from_source() ? config.decoder_layers : 0);
    for (const auto& entry : model->named_parameters()) {
      const std::string& name = entry.key();
      if (name.find("positions.") == std::string::npos) continue;
      INFO(name);
      const torch::Tensor values = entry.value().detach();
      const std::optional<int64_t> above = model->layers_above(name);
      REQUIRE(above);
      if (name == "positions.table") CHECK(*above == layers);  // all layers of its stack read it
      if (name == "decoder_positions.table") CHECK(*above == config.decoder_layers);
      if (name.starts_with("blocks.1.") || name.starts_with("decoder.1.")) CHECK(*above == 1);
      const bool table = name.ends_with(".table");
      if (name.ends_with("bias")) {
        CHECK(values.eq(0).all().item<bool>());
      } else {
        CHECK(values.ne(0).all().item<bool>());
        const double most =
            table ? 5 / std::sqrt(12.0) : std::sqrt(6.0 / static_cast<double>(values.size(0) + values.size(1)));
        CHECK(values.abs().max().item<double>() <= most);
      }
    }
  });
}

TEST_CASE("a pattern that hides nothing in any text is told from one that does", "[model][variants]") {
  TransformerConfig decoder = small_config(Kind::decoder), encoder = small_config(Kind::encoder);
  const auto idle = [](TransformerConfig& config, const PatternOptions& one, int64_t longest) {
    config.patterns = {FullOptions(), one};
    config.max_length = longest;
    return idle_pattern(config);
  };
  CHECK(idle(decoder, LocalOptions{.window = 5}, 5) ==
        "attention: {\"local\":{\"window\":5}} works as full: no text has more than 5 tokens");
  CHECK(idle(decoder, FullOptions(), 5).empty());
  // From the masks themselves: the shortest text in which some query misses a key.
  const PatternOptions all[] = {LocalOptions{.window = 4},
                                StridedOptions{.stride = 3},
                                StridedOptions{.stride = 3, .heads = {StridedHead::local}},
                                FixedOptions{.stride = 3, .summary = 1, .heads = {FixedHead::block}},
                                FixedOptions{.stride = 3, .summary = 3},
                                FixedOptions{.stride = 3, .summary = 2}};
  for (TransformerConfig* config : {&decoder, &encoder})
    for (const PatternOptions& one : all)
      for (int64_t length = 1; length < 9; ++length) {
        const bool causal = config == &decoder;
        INFO(pattern_json(one).dump() << " " << length << (causal ? " decoder" : " encoder"));
        const torch::Tensor full =
            causal ? torch::ones({length, length}, torch::kBool).tril() : torch::ones({length, length}, torch::kBool);
        const torch::Tensor seen = make_pattern(one, {.causal = causal, .heads = 2})
                                       ->visible({.queries = length, .keys = length}, torch::kCPU);
        const bool hides = seen.defined() && seen.ne(full).any().item<bool>();
        CHECK(idle(*config, one, length).empty() == hides);
      }
}

TEST_CASE("costs count what is there and what is seen, for each variant", "[model][variants]") {
  const torch::NoGradGuard no_grad;
  for_each_variant([](const TransformerConfig& config) {
    const auto model = variant_model(config);
    const HeadSet removed = alternating(model->blocks());
    const TextLengths lengths{.tokens = 8, .decoder_tokens = config.writes_from_source() ? 7 : 0};
    const ModelCost masked = model_cost(*model, removed, lengths);
    const auto pruned = model->copy();
    pruned->remove_heads(removed);
    const ModelCost left = model_cost(*pruned, {}, lengths);
    CHECK(masked.params == parameter_count(*pruned));
    CHECK(masked.params == left.params);
    CHECK(masked.attention_flops_per_token == left.attention_flops_per_token);
    for (size_t b = 0; b < model->blocks().size(); ++b) {
      const Kind kind = model->blocks()[b].id.kind;
      const int64_t keys = lengths.keys(kind);
      const auto pattern = model->pattern(b);
      torch::Tensor seen = pattern->visible({.queries = keys, .keys = keys}, torch::kCPU);
      if (!seen.defined()) seen = torch::ones({keys, keys}, torch::kBool);
      const torch::Tensor most = seen.sum(-1).amax(-1).expand({4});  // [H]
      for (int64_t head = 0; head < 4; ++head) CHECK(pattern->most_keys(keys, head) == most[head].item<int64_t>());
    }
  });
}

}  // namespace headprune
