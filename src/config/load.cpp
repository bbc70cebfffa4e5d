#include "config/load.h"

#include "config/decode.h"
#include "config/overrides.h"
#include "core/files.h"

namespace headprune {

namespace {

constexpr size_t kOverridesOrder = 1 << 20;  // after every file

class Loader {
 public:
  explicit Loader(SectionView& root) : state_{root, problems_, environment_, record_.origins, record_.extras} {}

  template <class File>
  LoadRecord load(const File& file, const std::vector<std::string>& overrides) {
    ConfigLayers read = read_layers(file, problems_, environment_);
    for (const ConfigLayer& layer : read.layers) decode_layer(layer.node, layer.from.folder, state_);
    for (size_t i = 0; i < overrides.size(); ++i) read_override(overrides[i], i);
    if (read.complete) finish_config(read.start, state_);
    problems_.throw_if_any();
    record_.files = std::move(read.files);
    record_.environment = environment_.used();
    return std::move(record_);
  }

 private:
  void read_override(const std::string& argument, size_t index) {
    const auto from =
        std::make_shared<const Source>(Source{"override:" + std::to_string(index + 1), kOverridesOrder + index});
    const std::optional<ConfigNode> steps = parse_override(argument, from, environment_, problems_);
    if (!steps) return;
    if (steps->keys[0] == "extends" || steps->keys[0] == "schema_version")
      problems_.add(steps->at, steps->keys[0], "stands in files only");
    else
      decode_layer(*steps, fs::current_path(), state_);
  }

  LoadRecord record_;
  Problems problems_;
  Environment environment_;
  DecodeState state_;
};

}  // namespace

LoadRecord load_into(SectionView& root, const fs::path& file, const std::vector<std::string>& overrides) {
  return Loader(root).load(file, overrides);
}

LoadRecord load_into(SectionView& root, const ConfigText& text, const std::vector<std::string>& overrides) {
  return Loader(root).load(text, overrides);
}

}  // namespace headprune
