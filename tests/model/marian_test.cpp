// Agreement of the family `marian` with transformers 4.57, and of what it writes with what it reads.
#include "marian_golden.h"
#include "model/checkpoint.h"
#include "model/export.h"
#include "support/folder.h"

using namespace headprune;
using namespace headprune::testing;

TEST_CASE("logits of a Marian model are those of transformers, padded and alone", "[hf][marian]") {
  const torch::NoGradGuard no_grad;
  const MarianGolden golden;
  const auto model = golden.model();
  CHECK(logits_difference(model->forward(golden.batch()).values, golden.expected["logits"]) < 1e-5);
  CHECK(alone_difference(*model, golden, golden.expected["logits"]) < 1e-5);
}

TEST_CASE("gates of 0 and removed heads of every kind give what transformers' three head masks give", "[hf][marian]") {
  const torch::NoGradGuard no_grad;
  const MarianGolden golden;
  for (const Json& masked : golden.expected["masked"]) {
    INFO(masked["removed"].dump());
    const auto model = golden.model();
    const HeadSet removed = HeadSet::from_json(masked["removed"]);
    HeadProbe probe;
    probe.gates = mask_gates(model->blocks(), removed, torch::kCPU);
    CHECK(logits_difference(model->forward(golden.batch(), probe).values, masked["logits"]) < 1e-5);
    model->remove_heads(removed);
    CHECK(logits_difference(model->forward(golden.batch()).values, masked["logits"]) < 1e-5);
  }
}

TEST_CASE("losses and gate gradients of a Marian model are those of transformers in float64", "[hf][marian]") {
  CHECK(gradient_difference(MarianGolden()) < 1e-6);
}

TEST_CASE("a written Marian folder has the tensors and the config.json that it was read from", "[hf][marian]") {
  const MarianGolden golden;
  const TestFolder folder;
  export_model({.model = golden.folder, .removed = {}, .target = folder / "same", .metadata = {}});
  const NamedTensors ours = read_tensors(folder / "same/model.safetensors"),
                     theirs = read_tensors(golden.folder / "model.safetensors");
  for (const auto& [name, tensor] : ours) {
    INFO(name);
    REQUIRE(theirs.contains(name));
    CHECK(torch::equal(tensor, theirs.at(name)));
  }
  CHECK(ours.size() == theirs.size());
  CHECK(parse_json(read_file(folder / "same/config.json"), "a") ==
        parse_json(read_file(golden.folder / "config.json"), "b"));
}

TEST_CASE("compact and zeroed exports of a Marian model reload to the masked logits", "[hf][marian]") {
  const torch::NoGradGuard no_grad;
  const MarianGolden golden;
  for (const Json& masked : golden.expected["masked"]) {
    const HeadSet removed = HeadSet::from_json(masked["removed"]);
    for (const ExportForm form : {ExportForm::compact, ExportForm::zeroed}) {
      const TestFolder folder;
      export_model(
          {.model = golden.folder, .removed = removed, .form = form, .target = folder / "pruned", .metadata = {}});
      const ModelFolder read = read_model_folder(folder / "pruned");
      CHECK(read.removed == removed);
      const auto model = load_model(read, torch::kCPU);
      CHECK(model->removed_heads() == removed);
      CHECK(logits_difference(model->forward(golden.batch()).values, masked["logits"]) < 1e-5);
      // transformers cannot remove heads of this family and must not be told to.
      CHECK_FALSE(parse_json(read_file(folder / "pruned/config.json"), "c").contains("pruned_heads"));
    }
  }
}

TEST_CASE("a Marian folder that this program would compute differently is refused", "[hf][marian]") {
  const MarianGolden golden;
  const Json config = parse_json(read_file(golden.folder / "config.json"), "config");
  const auto refused = [&](const char* key, const Json& value) {
    const TestFolder folder;
    Json changed = config;
    changed[key] = value;
    folder.write("config.json", changed.dump());
    fs::copy(golden.folder / "model.safetensors", folder / "model.safetensors");
    CHECK_THROWS_WITH(load_model(read_model_folder(folder.path()), torch::kCPU), ContainsSubstring(key));
  };
  refused("share_encoder_decoder_embeddings", false);
  refused("normalize_before", true);
  refused("decoder_attention_heads", 6);
  refused("encoder_ffn_dim", 21);
  refused("activation_function", "tanh");
  refused("scale_embedding", "yes");
}
