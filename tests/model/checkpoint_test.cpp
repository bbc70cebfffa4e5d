#include "model/checkpoint.h"

#include <cmath>
#include <fstream>

#include "core/error.h"
#include "data/vocabulary.h"
#include "model/folder.h"
#include "model/support.h"

namespace headprune {
namespace {

using namespace testing;

fs::path save(const TestFolder& folder, const Model& model, const Vocabulary* vocabulary = nullptr) {
  const fs::path path = folder.path() / "model";
  FolderWriter writer(path);
  write_model(writer, model, vocabulary, {{"headprune.mask_sha256", "abc"}});
  writer.commit();
  return path;
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// A saved encoder without its manifest, so that tests can damage single files.
fs::path save_open(const TestFolder& folder, const Model& model) {
  const fs::path path = save(folder, model);
  fs::remove(path / "manifest.json");
  return path;
}

std::string error_of(const fs::path& path) {
  try {
    load_model(read_model_folder(path), torch::kCPU);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("tensors survive bytes of every type and shape", "[model]") {
  const TestFolder folder;
  const auto same = [&](const torch::Tensor& tensor) {
    const torch::Tensor back = read_tensors(folder.write("x.safetensors", tensors_file({{"x", tensor}}, {}))).at("x");
    return back.scalar_type() == tensor.scalar_type() && torch::equal(back, tensor);
  };
  const torch::Tensor base = random_tensor({2, 3, 4}, 1) * 50;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort, at::kChar,
                          at::kByte, at::kBool})
    CHECK(same(base.to(type)));
  CHECK(same(base.transpose(0, 2)));
  CHECK(same(torch::zeros({0, 3})));
  CHECK(same(torch::tensor(1.5)));
  CHECK(to_bytes("x", torch::tensor({1.0f})).bytes == std::string("\x00\x00\x80\x3f", 4));
}

TEST_CASE("values that are given away are the model's own, in its type", "[model]") {
  const auto model = small_model(small_config(Kind::decoder)), other = small_model(small_config(Kind::decoder));
  initialise(*other, 9);
  NamedTensors given;
  for (const auto& [name, tensor] : state(*other))
    given[name] = name.ends_with("bias") ? tensor.detach().to(torch::kFloat64) : tensor.detach().clone();
  given["embeddings.tokens"] = given["embeddings.tokens"].t().contiguous().t();  // not as it lies in a model
  const NamedTensors kept = given;
  take_state(*model, std::move(given), "here");
  for (const auto& [name, tensor] : state(*model)) {
    INFO(name);
    CHECK(torch::equal(tensor, state(*other).at(name)));
    CHECK((tensor.is_contiguous() && tensor.scalar_type() == torch::kFloat32 && tensor.requires_grad()));
    const bool taken = !name.ends_with("bias") && name != "embeddings.tokens";
    CHECK((tensor.const_data_ptr() == kept.at(name).const_data_ptr()) == taken);
  }
  NamedTensors missing = kept;
  missing.erase("embeddings.tokens");
  CHECK_THROWS_WITH(take_state(*model, missing, "here"), ContainsSubstring("embeddings.tokens"));
}

TEST_CASE("a saved model loads bit for bit", "[model]") {
  const TestFolder folder;
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const auto model = small_model(small_config(kind));
    const Vocabulary vocabulary = Vocabulary::of({"a", "b", "c", "d", "e", "f", "g"});
    const fs::path path = save(folder, *model, &vocabulary);
    const auto loaded = load_model(read_model_folder(path), torch::kCPU);
    const NamedTensors before = state(*model), after = state(*loaded);
    REQUIRE(before.size() == after.size());
    for (const auto& [name, tensor] : before) CHECK(torch::equal(tensor, after.at(name)));
    CHECK(torch::equal(real_logits(*model, small_batch()), real_logits(*loaded, small_batch())));
    CHECK(loaded->sizes() == model->sizes());
    CHECK(dynamic_cast<const Vocabulary&>(*read_tokenizer(path)) == vocabulary);
    CHECK_FALSE(loaded->is_training());
  }
}

TEST_CASE("config.json names the type and every size, and heads only where some went", "[model]") {
  const auto model = small_model(small_config(Kind::encoder, NormOrder::post));
  const Json intact = model->config();
  CHECK(
      dump_json(intact) ==
      R"({"model_type":"headprune_encoder","architectures":["Transformer"],"d_model":12,"layers":3,"heads":3,)"
      R"("d_key":5,"d_value":2,"d_ff":16,"activation":"gelu","norm":"post","layer_norm_eps":1e-05,)"
      R"("positions":"learned","dropout":0.1,"pooling":"cls","pooler":"none","outputs":4,"vocabulary_size":11,"max_length":9,"position_offset":0,"token_types":0})");
  HeadSet removed;
  removed.insert({{Kind::encoder, 1}, 0});
  removed.insert({{Kind::encoder, 2}, 2});
  model->remove_heads(removed);
  CHECK(dump_json(model->config()["headprune"]) ==
        R"({"removed":{"encoder":{"1":[0],"2":[2]}},"heads":{"encoder":[3,2,2]}})");
}

TEST_CASE("a pruned model keeps its original head ids through a folder, and can be pruned again", "[model]") {
  const TestFolder folder;
  for (const Kind kind : {Kind::encoder, Kind::decoder}) {
    const auto model = small_model(small_config(kind));
    HeadSet removed;
    for (const HeadId& head : {HeadId{{kind, 0}, 0}, HeadId{{kind, 1}, 0}, HeadId{{kind, 1}, 1}, HeadId{{kind, 1}, 2}})
      removed.insert(head);
    model->remove_heads(removed);
    const auto loaded = load_model(read_model_folder(save(folder, *model)), torch::kCPU);
    CHECK(torch::equal(real_logits(*model, small_batch()), real_logits(*loaded, small_batch())));
    CHECK(loaded->attention(0).heads() == std::vector<int64_t>{1, 2});
    CHECK(loaded->attention(1).heads().empty());

    const HeadSet more({HeadId{{kind, 0}, 2}});
    model->remove_heads(more);
    loaded->remove_heads(more);
    CHECK(loaded->attention(0).heads() == std::vector<int64_t>{1});
    CHECK(torch::equal(real_logits(*model, small_batch()), real_logits(*loaded, small_batch())));
  }
}

TEST_CASE("tensors that do not fit are listed with names and shapes", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  NamedTensors tensors = state(*model);
  const torch::Tensor before = model->attention(0).query().weight.detach().clone();
  tensors.erase("head.bias");
  tensors["norm.weight"] = torch::zeros({7});
  tensors["extra"] = torch::zeros({2, 2});
  tensors["norm.bias"] = torch::zeros({12}, torch::kInt64);
  tensors["blocks.0.attention.query.weight"] = torch::zeros({15, 12});
  CHECK_THROWS_WITH(load_state(*model, tensors, "m"), ContainsSubstring("head.bias [4] is missing") &&
                                                          ContainsSubstring("extra [2, 2] is unexpected") &&
                                                          ContainsSubstring("norm.weight is [7] and should be [12]") &&
                                                          ContainsSubstring("norm.bias holds I64 numbers"));
  CHECK(torch::equal(before, model->attention(0).query().weight));
}

TEST_CASE("a folder with values that are not finite is refused, and leaves the model as it was", "[model]") {
  const TestFolder folder;
  const auto damaged = small_model(small_config(Kind::encoder));
  const auto model = small_model(small_config(Kind::encoder));
  const torch::Tensor before = state(*model).at("head.bias").clone();
  for (const double bad : {std::nan(""), double{INFINITY}}) {
    state(*damaged).at("blocks.0.attention.key.bias").data_ptr<float>()[1] = static_cast<float>(bad);
    const fs::path path = folder / (std::isnan(bad) ? "nan" : "inf");
    FolderWriter writer(path);
    write_model(writer, *damaged, nullptr, {});
    writer.commit();
    CHECK_THROWS_WITH(load_weights(read_model_folder(path), *model),
                      ContainsSubstring("tensor blocks.0.attention.key.bias holds values that are not finite"));
  }
  CHECK(state(*model).at("head.bias").equal(before));
}

TEST_CASE("loading into another number type converts", "[model]") {
  const auto model = small_model(small_config(Kind::encoder));
  const auto wide = model->copy();
  wide->to(torch::kFloat64);
  load_state(*wide, state(*model), "m");
  CHECK(wide->attention(0).query().weight.scalar_type() == torch::kFloat64);
  CHECK(max_difference(real_logits(*wide, small_batch()).to(torch::kFloat32), real_logits(*model, small_batch())) <
        1e-5);
}

TEST_CASE("a folder that is no model is refused with what to do", "[model]") {
  const TestFolder folder;
  CHECK_THAT(error_of(folder.path() / "nowhere"), ContainsSubstring("is not a folder"));
  CHECK_THAT(error_of(folder.path()), ContainsSubstring("has no config.json"));
  write_text(folder.path() / "model.safetensors", "");  // without it that is what is said
  write_text(folder.path() / "config.json", R"({"model_type":"t5","hidden_size":8})");
  CHECK_THAT(error_of(folder.path()),
             ContainsSubstring("model_type 't5' is not supported (its positions are biases added to attention") &&
                 ContainsSubstring("supported are headprune_encoder, headprune_decoder"));
  // Close to what is supported, and not the same.
  for (const auto& [type, differs] :
       {std::pair("gemma", "multiplies by 1 + weight"), std::pair("phi3", "in one tensor"),
        std::pair("gpt_neox", "side by side"), std::pair("mixtral", "mixtures of experts")}) {
    write_text(folder.path() / "config.json", fmt::format(R"({{"model_type":"{}"}})", type));
    CHECK_THAT(error_of(folder.path()),
               ContainsSubstring(fmt::format("model_type '{}'", type)) && ContainsSubstring(differs));
  }
  write_text(folder.path() / "config.json", R"({"hidden_size":8})");
  CHECK_THAT(error_of(folder.path()), ContainsSubstring("model_type '' is not supported"));
  write_text(folder.path() / "config.json", "[1]");
  CHECK_THAT(error_of(folder.path()), ContainsSubstring("model_type '' is not supported"));
}

TEST_CASE("weights that are only a pickle file are refused with the conversion", "[model]") {
  const TestFolder folder;
  const auto model = small_model(small_config(Kind::encoder));
  const fs::path path = save_open(folder, *model);
  fs::remove(path / "model.safetensors");
  CHECK_THAT(error_of(path), ContainsSubstring("model.safetensors is missing"));
  write_text(path / "pytorch_model.bin", "x");
  CHECK_THAT(error_of(path), ContainsSubstring("pytorch_model.bin is a pickle file, which is never loaded") &&
                                 ContainsSubstring("save_file"));
}

TEST_CASE("a damaged config.json is refused with the key", "[model]") {
  const TestFolder folder;
  const auto model = small_model(small_config(Kind::encoder));
  const Json good = model->config();
  const fs::path path = save_open(folder, *model);
  const auto error_with = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    write_text(path / "config.json", dump_json(bad));
    return error_of(path);
  };
  CHECK(error_with("d_model", 12).empty());
  CHECK_THAT(error_with("d_model", "12"), ContainsSubstring("config.json: d_model is no number"));
  CHECK_THAT(error_with("d_model", 1.5), ContainsSubstring("d_model is no number"));
  CHECK_THAT(error_with("layers", -1), ContainsSubstring("layers is out of range"));
  CHECK_THAT(error_with("dropout", 1.0), ContainsSubstring("dropout is out of range"));
  CHECK_THAT(error_with("norm", "middle"), ContainsSubstring("norm is not one of the known words"));
  CHECK_THAT(error_with("d_ff", 17),
             ContainsSubstring("blocks.0.feed_forward.up.weight is [16, 12] and should be [17, 12]"));
  CHECK_THAT(error_with("headprune", 1), ContainsSubstring("headprune has no 'removed'"));
  CHECK_THAT(error_with("headprune", {{"removed", {{"encoder", {{"7", {0}}}}}}}),
             ContainsSubstring("names encoder.L7.H0, which a model of 3 layers with 3 heads never had"));
  CHECK_THAT(error_with("headprune", {{"removed", {{"encoder", {{"0", {0}}}}}}, {"heads", {{"encoder", {3, 3, 3}}}}}),
             ContainsSubstring("it should be {\"encoder\":[2,3,3]}"));
  Json missing = good;
  missing.erase("heads");
  write_text(path / "config.json", dump_json(missing));
  CHECK_THAT(error_of(path), ContainsSubstring("heads is missing"));
}

TEST_CASE("a folder whose files do not match its manifest is refused", "[model]") {
  const TestFolder folder;
  const auto model = small_model(small_config(Kind::encoder));
  const fs::path path = save(folder, *model);
  CHECK(error_of(path).empty());
  std::fstream file(path / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x11');
  file.close();
  CHECK_THAT(error_of(path), ContainsSubstring("model.safetensors"));
}

TEST_CASE("the summary of a folder counts what is there", "[model]") {
  const TestFolder folder;
  const auto model = small_model(small_config(Kind::decoder));
  model->remove_heads(HeadSet({HeadId{{Kind::decoder, 0}, 1}, HeadId{{Kind::decoder, 2}, 0},
                               HeadId{{Kind::decoder, 2}, 1}, HeadId{{Kind::decoder, 2}, 2}}));
  const fs::path path = save(folder, *model);
  const ModelSummary summary = summarise_model_folder(path);
  CHECK(summary.folder.model_type() == "headprune_decoder");
  CHECK(summary.parameters == parameter_count(*model));
  CHECK(summary.intact_parameters == intact_parameters(model->sizes()));
  CHECK(summary.metadata.at("headprune.mask_sha256") == "abc");
  CHECK_FALSE(summary.has_tokenizer);
  const auto lines = summary_lines(summary);
  REQUIRE(lines.size() > 3);
  CHECK(lines[lines.size() - 3] == "decoder.L0: 2 of 3 heads: 0 2");
  CHECK(lines[lines.size() - 1] == "decoder.L2: 0 of 3 heads: none");
  CHECK(is_model_folder(path));
  CHECK_FALSE(is_model_folder(folder.path()));
}

}  // namespace
}  // namespace headprune
