// Exports of models whose heads share keys and values, in every form (docs/formats.md section 6).
#include "damaged.h"
#include "hf_golden.h"
#include "model/attention.h"
#include "model/checkpoint.h"
#include "model/export.h"
#include "model/stored_heads.h"
#include "support.h"

using namespace headprune;
using namespace headprune::testing;

namespace {

const char* const kFamilies[] = {"llama", "llama_biases", "mistral", "qwen2", "qwen3"};
constexpr ExportForm kForms[] = {ExportForm::zeroed, ExportForm::compact, ExportForm::padded, ExportForm::degroup};
constexpr double kSameLogits = 1e-5;

/// Of the goldens' 3 layers of 6 heads in 3 groups, which heads go, and what is said of every layer then: query heads
/// and groups; none where the form is refused.
struct Mask {
  Json removed;
  std::optional<std::pair<int64_t, int64_t>> compact, padded, degroup;
};

std::vector<Mask> masks() {
  return {{{{"0", {0, 2, 4}}, {"1", {1, 3, 5}}, {"2", {0, 3, 4}}}, {{3, 3}}, {{3, 3}}, {{3, 3}}},
          {{{"0", {0, 1}}, {"1", {2, 3}}, {"2", {4, 5}}}, {{4, 2}}, {{4, 2}}, {{4, 4}}},
          {{{"0", {0, 1, 2}}, {"1", {3, 4, 5}}, {"2", {0, 2, 4}}}, {}, {{6, 3}}, {{3, 3}}},
          {{{"0", {1, 4, 5}}, {"1", {0, 1, 2, 3, 5}}, {"2", {0, 1, 2, 3, 4, 5}}}, {}, {{4, 2}}, {}},
          {{{"0", {0, 1, 2, 3, 4, 5}}, {"1", {0, 1, 2, 3, 4, 5}}, {"2", {0, 1, 2, 3, 4, 5}}}, {}, {{1, 1}}, {}}};
}

Json config_in(const fs::path& folder) { return parse_json(read_file(folder / "config.json"), "config"); }

void write_config(const fs::path& folder, const Json& config) {
  write_file(folder / "config.json", config.dump());
  fs::remove(folder / "manifest.json");
}

/// What "error: " would show, of an export that must be refused as a wrong form and leave nothing.
std::string refusal(const ExportRequest& request) {
  try {
    export_model(request);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_FALSE(fs::exists(request.target));
    return error.what();
  }
  FAIL("nothing was refused");
  return "";
}

torch::Tensor masked_logits(const HfGolden& golden, const HeadSet& removed) {
  const auto model = golden.model();
  HeadProbe probe;
  probe.gates = mask_gates(model->blocks(), removed, torch::kCPU);
  return real_logits(*model, golden.batch(), probe);
}

double folder_difference(const fs::path& folder, const HfGolden& golden, const torch::Tensor& expected) {
  return max_difference(real_logits(*load_model(read_model_folder(folder), torch::kCPU), golden.batch()), expected);
}

/// The folder for a reader that knows nothing of the key headprune.
void make_plain(const fs::path& folder) {
  Json config = config_in(folder);
  config.erase("headprune");
  write_config(folder, config);
}

}  // namespace

TEST_CASE("every form of a grouped export gives the masked logits, here and as an ordinary model", "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kFamilies) {
    const HfGolden golden(name);
    for (const Mask& mask : masks()) {
      const HeadSet removed = heads_of(mask.removed, Kind::decoder);
      const torch::Tensor expected = masked_logits(golden, removed);
      for (const ExportForm form : kForms) {
        INFO(name << " " << mask.removed << " " << enum_name(form));
        const TestFolder folder;
        const fs::path target = folder / "out";
        const auto& states = form == ExportForm::compact   ? mask.compact
                             : form == ExportForm::padded  ? mask.padded
                             : form == ExportForm::degroup ? mask.degroup
                                                           : std::optional(std::pair<int64_t, int64_t>(6, 3));
        const ExportRequest request{
            .model = golden.folder, .removed = removed, .form = form, .target = target, .metadata = {}};
        if (!states) {
          CHECK_THAT(refusal(request), ContainsSubstring("--form padded"));
          continue;
        }
        const ExportResult result = export_model(request);
        CHECK(result.heads == 18 - removed.size());
        CHECK(result.texts == 4);
        const Json config = config_in(target);
        CHECK(config["num_attention_heads"] == states->first);
        CHECK(config["num_key_value_heads"] == states->second);
        if (states->first < 6) CHECK(config["head_dim"] == 4);
        CHECK_FALSE(config.contains("pruned_heads"));
        const NamedTensors tensors = read_tensors(target / "model.safetensors");
        for (const char* layer : {"0", "1", "2"}) {
          const std::string attention = fmt::format("model.layers.{}.self_attn.", layer);
          CHECK(tensors.at(attention + "q_proj.weight").size(0) == 4 * states->first);
          CHECK(tensors.at(attention + "k_proj.weight").size(0) == 4 * states->second);
          CHECK(tensors.at(attention + "v_proj.weight").size(0) == 4 * states->second);
          CHECK(tensors.at(attention + "o_proj.weight").size(1) == 4 * states->first);
        }
        const auto model = load_model(read_model_folder(target), torch::kCPU);
        CHECK(model->removed_heads() == removed);
        CHECK(max_difference(real_logits(*model, golden.batch()), expected) < kSameLogits);
        make_plain(target);
        CHECK(read_model_folder(target).removed.empty());
        CHECK(folder_difference(target, golden, expected) < kSameLogits);
      }
    }
  }
}

TEST_CASE("padded and zeroed exports give what transformers gives with uneven groups and an empty layer",
          "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  for (const char* name : kFamilies) {
    const HfGolden golden(name);
    for (const Json& masked : golden.expected["masked"]) {
      INFO(name << " " << masked["removed"]);
      const TestFolder folder;
      ExportRequest request{.model = golden.folder,
                            .removed = heads_of(masked["removed"], Kind::decoder),
                            .target = folder / "out",
                            .metadata = {}};
      CHECK_THAT(refusal(request), ContainsSubstring("--form compact needs") && ContainsSubstring("--form padded"));
      for (const ExportForm form : {ExportForm::zeroed, ExportForm::padded}) {
        request.form = form;
        request.target = folder / enum_name(form);
        export_model(request);
        const auto model = load_model(read_model_folder(request.target), torch::kCPU);
        CHECK(logits_difference(model->forward(golden.batch()).values, masked["logits"]) < kSameLogits);
      }
    }
  }
}

TEST_CASE("heads keep their ids through one form after the other", "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("qwen2");
  const TestFolder folder;
  fs::path source = golden.folder;
  HeadSet all;
  const std::tuple<ExportForm, const char*, Json> steps[] = {
      {ExportForm::compact, "compact", {{"0", {0, 2, 4}}, {"1", {1, 3, 5}}, {"2", {0, 3, 4}}}},
      {ExportForm::padded, "padded", {{"0", {3}}, {"1", {4}}, {"2", {2}}}},
      {ExportForm::zeroed, "zeroed", {{"0", {5}}}},
      {ExportForm::padded, "again", {{"2", {1, 5}}}},
      {ExportForm::degroup, "degroup", {{"1", {0, 2}}, {"0", {1}}}},
  };
  for (const auto& [form, name, more] : steps) {
    INFO(name);
    const HeadSet removed = heads_of(more, Kind::decoder);
    for (const HeadId& head : removed.heads()) all.insert(head);
    const fs::path target = folder / name;
    if (form == ExportForm::degroup) {  // nothing of a layer is left
      CHECK_THAT(refusal({.model = source, .removed = removed, .form = form, .target = target, .metadata = {}}),
                 ContainsSubstring("cannot hold a model without any head"));
      continue;
    }
    export_model({.model = source, .removed = removed, .form = form, .target = target, .metadata = {}});
    const ModelFolder read = read_model_folder(target);
    CHECK(read.removed == all);
    CHECK(read.config == read_model_folder(golden.folder).config);
    CHECK(folder_difference(target, golden, masked_logits(golden, all)) < kSameLogits);
    source = target;
  }
}

TEST_CASE("a degrouped folder is a model in which every head is a group of its own", "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("llama_biases");
  const TestFolder folder;
  const HeadSet removed = heads_of({{"0", {0}}, {"1", {3}}, {"2", {5}}}, Kind::decoder);
  export_model({.model = golden.folder,
                .removed = removed,
                .form = ExportForm::degroup,
                .target = folder / "out",
                .metadata = {}});
  const ModelFolder read = read_model_folder(folder / "out");
  CHECK(read.config.groups == 6);
  CHECK(read.removed == removed);
  // A head's keys go with it now, and those of the head beside it stay.
  const HeadSet more = heads_of({{"0", {1, 2}}, {"1", {1, 2}}, {"2", {3, 4}}}, Kind::decoder);
  export_model({.model = folder / "out", .removed = more, .target = folder / "more", .metadata = {}});
  HeadSet all = removed;
  for (const HeadId& head : more.heads()) all.insert(head);
  CHECK(read_model_folder(folder / "more").removed == all);
  CHECK(config_in(folder / "more")["num_key_value_heads"] == 3);
  CHECK(folder_difference(folder / "more", golden, masked_logits(golden, all)) < kSameLogits);
}

TEST_CASE("a form that cannot hold a model says which layer, group or family it is", "[hf][grouped]") {
  const HfGolden golden("mistral");
  const TestFolder folder;
  const auto refused = [&](const Json& removed, ExportForm form) {
    return refusal({.model = golden.folder,
                    .removed = heads_of(removed, Kind::decoder),
                    .form = form,
                    .target = folder / "out",
                    .metadata = {}});
  };
  const Json group = {{"0", {0, 1}}, {"1", {4, 5}}, {"2", {1, 2, 3}}}, layer = {{"1", {0, 1, 2, 3, 4, 5}}};
  CHECK(refused(group, ExportForm::compact) ==
        "--form compact needs as many groups in every layer and as many query heads in every group: group 0 of "
        "decoder.L2 has 1 query head left and group 1 of decoder.L0 2; use --form padded, which fills every layer up "
        "to the largest");
  CHECK_THAT(refused(layer, ExportForm::compact),
             ContainsSubstring("decoder.L1 has no group of heads left and decoder.L0 3 groups; use --form padded"));
  CHECK_THAT(refused(layer, ExportForm::degroup),
             ContainsSubstring("--form degroup needs as many heads in every layer: decoder.L1 has no head left and "
                               "decoder.L0 6 heads; use --form padded"));
  for (const char* name : {"bert_classifier", "gpt2_lm"})
    for (const ExportForm form : {ExportForm::padded, ExportForm::degroup})
      CHECK_THAT(
          refusal(
              {.model = HfGolden(name).folder, .removed = {}, .form = form, .target = folder / "out", .metadata = {}}),
          ContainsSubstring(fmt::format("--form {} is for families whose config.json states heads apart from "
                                        "the model's width (llama, mistral, qwen2, qwen3)",
                                        enum_name(form))) &&
              ContainsSubstring("use --form zeroed"));
  CHECK(folder.names().empty());
}

TEST_CASE("an export says which release of transformers refuses it", "[hf][grouped]") {
  const TestFolder folder;
  const Json removed = {{"0", {0, 2, 4}}, {"1", {1, 3, 5}}, {"2", {0, 3, 4}}};  // 3 heads; widths are 20
  for (const char* name : {"llama", "mistral", "qwen3"})
    for (const ExportForm form : {ExportForm::compact, ExportForm::padded, ExportForm::degroup}) {
      INFO(name << enum_name(form));
      const ExportResult result = export_model({.model = HfGolden(name).folder,
                                                .removed = heads_of(removed, Kind::decoder),
                                                .form = form,
                                                .target = folder / (std::string(name) + enum_name(form)),
                                                .metadata = {}});
      CHECK(result.notes.front() == (std::string(name) == "llama"
                                         ? "opens in transformers 4 and in headprune; transformers 5 refuses a llama "
                                           "whose 3 heads do not divide its width of 20"
                                         : "opens in transformers 4 and 5, and in headprune"));
      if (form == ExportForm::padded) CHECK_THAT(result.notes.at(1), ContainsSubstring("0 of 9 give nothing"));
    }
}

TEST_CASE("layers are padded to a number of heads that divides the width where transformers 5 asks for it",
          "[hf][grouped]") {
  ModelFolder folder;
  folder.config = small_config(Kind::decoder);
  folder.config.d_model = 64;
  folder.config.heads = 8;
  folder.config.groups = 4;
  HeadSet removed;  // 3 groups of one head, 1, none
  for (const BlockHeads& block : transformer_blocks(folder.config))
    for (const int64_t head : block.heads)
      if (block.id.layer == 2 || (block.id.layer == 1 ? head != 7 : head % 2 == 1 || head == 0))
        removed.insert({block.id, head});
  const auto padded = [&](const char* type) {
    folder.origin = std::make_shared<const HfOrigin>(HfOrigin{find_layout(type), {}});
    const HeadLayout stated = plan_export(folder, removed, ExportForm::padded).stated.value();
    return std::pair(stated.heads, stated.groups);
  };
  CHECK(padded("mistral") == std::pair<int64_t, int64_t>(3, 3));
  CHECK(padded("llama") == std::pair<int64_t, int64_t>(4, 4));
  folder.config.d_model = 63;  // 8 heads did not divide it either
  CHECK(padded("llama") == std::pair<int64_t, int64_t>(3, 3));
  folder.config.d_model = 62;
  CHECK(padded("llama") == std::pair<int64_t, int64_t>(3, 3));
}

TEST_CASE("a pruned model that a run saved is read, exported, and read again", "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("qwen3");
  const TestFolder folder;
  const HeadSet removed = heads_of(golden.expected["masked"][1]["removed"], Kind::decoder);
  const auto model = golden.model();
  model->remove_heads(removed);
  FolderWriter writer(folder / "saved");
  write_model(writer, *model, nullptr, {});
  writer.commit();
  const torch::Tensor expected = masked_logits(golden, removed);
  CHECK(read_model_folder(folder / "saved").removed == removed);
  CHECK(folder_difference(folder / "saved", golden, expected) < kSameLogits);
  for (const ExportForm form : {ExportForm::zeroed, ExportForm::padded}) {
    const fs::path target = folder / enum_name(form);
    export_model({.model = folder / "saved", .removed = {}, .form = form, .target = target, .metadata = {}});
    CHECK(read_model_folder(target).removed == removed);
    CHECK(folder_difference(target, golden, expected) < kSameLogits);
  }
}

TEST_CASE("a folder whose empty heads were trained elsewhere is not read as if they were gone", "[hf][grouped]") {
  const torch::NoGradGuard no_grad;
  const HfGolden golden("mistral");
  const HeadSet removed = heads_of({{"0", {1, 4, 5}}, {"1", {0, 1, 2, 3, 5}}, {"2", {2}}}, Kind::decoder);
  for (const ExportForm form : {ExportForm::zeroed, ExportForm::padded}) {
    INFO(enum_name(form));
    const TestFolder folder;
    const fs::path out = folder / "out";
    export_model({.model = golden.folder, .removed = removed, .form = form, .target = out, .metadata = {}});
    NamedTensors tensors = read_tensors(out / "model.safetensors");
    // Head 1 of layer 0 is removed; padded, head 5 there only fills up.
    const int64_t place = form == ExportForm::zeroed ? 1 : 5;
    tensors.at("model.layers.0.self_attn.o_proj.weight").narrow(1, 4 * place, 4).fill_(0.25);
    write_file(out / "model.safetensors", tensors_file(tensors, {}));
    fs::remove(out / "manifest.json");
    CHECK_THROWS_WITH(
        load_model(read_model_folder(out), torch::kCPU),
        ContainsSubstring(fmt::format("decoder.L0.H{} is removed and gives something all the same", place)) &&
            ContainsSubstring("delete the key headprune from config.json"));
    make_plain(out);
    CHECK(load_model(read_model_folder(out), torch::kCPU)->removed_heads().empty());
  }
}

TEST_CASE("what a damaged export says of its heads is refused", "[hf][grouped]") {
  const HfGolden golden("llama");
  const TestFolder folder;
  const HeadSet removed = heads_of({{"0", {1, 4, 5}}, {"1", {0, 1, 2, 3, 5}}, {"2", {2}}}, Kind::decoder);
  const fs::path out = folder / "out";
  export_model({.model = golden.folder, .removed = removed, .form = ExportForm::padded, .target = out, .metadata = {}});
  const Json config = config_in(out);
  const auto changed = [&](const auto& change) {
    Json other = config;
    change(other);
    write_config(out, other);
    return out;
  };
  CHECK_THROWS_WITH(read_model_folder(changed([](Json& json) { json["headprune"]["form"] = "folded"; })),
                    ContainsSubstring("headprune.form is \"folded\"; the file is damaged, or a later version"));
  CHECK_THROWS_WITH(read_model_folder(changed([](Json& json) {
                      json["headprune"]["intact"] = {{"num_attention_heads", 6}, {"num_key_value_heads", 3}};
                      json["num_attention_heads"] = json["num_key_value_heads"] = 3;
                    })),
                    ContainsSubstring("3 heads in 3 groups have no room for those that headprune.removed leaves"));
  CHECK_THROWS_WITH(read_model_folder(changed([](Json& json) {
                      json["headprune"]["intact"] = {{"num_attention_heads", "six"}};
                    })),
                    ContainsSubstring("num_attention_heads is \"six\"; expected a positive whole number"));
}

TEST_CASE("an outline of an exported folder has the tensors of the model", "[hf][grouped]") {
  const HfGolden golden("qwen3");
  const HeadSet removed = heads_of({{"0", {0, 2, 4}}, {"1", {1, 3, 5}}, {"2", {0, 3, 4}}}, Kind::decoder);
  for (const ExportForm form : kForms) {
    INFO(enum_name(form));
    const TestFolder folder;
    export_model({.model = golden.folder, .removed = removed, .form = form, .target = folder / "out", .metadata = {}});
    const ModelFolder read = read_model_folder(folder / "out");
    const ModelInput input{.vocabulary_size = 24, .max_length = 12};
    const NamedTensors shapes = state(*outline_loaded(read, input)), built = state(*build_loaded(read, input));
    REQUIRE(shapes.size() == built.size());
    for (const auto& [tensor, value] : built) CHECK(shapes.at(tensor).sizes() == value.sizes());
  }
}
