// A golden model folder that tests change.
#pragma once

#include "hf_golden.h"
#include "model/checkpoint.h"
#include "support/folder.h"

namespace headprune::testing {

/// A copy of a golden folder that tests damage, or make unusual.
class Damaged {
 public:
  explicit Damaged(const std::string& name = "bert_classifier") : golden_(name) {
    fs::copy(golden_.folder, folder_ / "model");
  }
  fs::path path() const { return folder_ / "model"; }
  void config(const std::string& key, const Json& value) const {
    Json json = parse_json(read_file(path() / "config.json"), "config");
    if (value.is_null())
      json.erase(key);
    else
      json[key] = value;
    write_file(path() / "config.json", json.dump());
  }
  template <class Change>
  void tensors(const Change& change) const {
    NamedTensors all = read_tensors(path() / "model.safetensors");
    change(all);
    write_file(path() / "model.safetensors", tensors_file(all, {}));
  }
  /// "" when it loads.
  std::string error(ModelInput input = {.vocabulary_size = 50, .outputs = 3, .max_length = 20}) const {
    try {
      build_loaded(read_model_folder(path()), input);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::run_failed);
      return error.what();
    }
    return "";
  }

 private:
  HfGolden golden_;
  TestFolder folder_;
};

}  // namespace headprune::testing
