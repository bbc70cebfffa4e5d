#include "model/hf_names.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace headprune {

namespace {

/// Up to the first point: "encoder" of "encoder.layer.0...".
std::string first_part(const std::string& name) { return name.substr(0, name.find('.')); }

/// As the layout would list it, whatever stands before the layout's own prefix gone.
std::string plain_name(const HfLayout& layout, const std::string& name) {
  std::string shorter = name;
  for (const std::string& prefix : {layout.prefix(), std::string("model.")})
    if (shorter == name && name.starts_with(prefix)) shorter = name.substr(prefix.size());
  for (const auto& [old, today] : {std::pair("LayerNorm.gamma", "weight"), std::pair("LayerNorm.beta", "bias")})
    if (shorter.ends_with(old)) shorter = shorter.substr(0, shorter.rfind('.') + 1) + today;
  return shorter;
}

/// Up to and with the last point that all names have in common; "" where there is none.
std::string common_prefix(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string common = names.front();
  for (const std::string& name : names) {
    size_t length = 0;
    while (length < std::min(common.size(), name.size()) && common[length] == name[length]) ++length;
    common.resize(length);
  }
  const size_t point = common.rfind('.');
  return point == std::string::npos ? "" : common.substr(0, point + 1);
}

/// The shortest beginning of what all names have in common without which most of them are the layout's.
std::string foreign_prefix(const HfLayout& layout, const std::vector<std::string>& names,
                           const std::set<std::string>& wanted) {
  const std::string common = common_prefix(names);
  size_t best = 0;
  std::ptrdiff_t most = 0;
  for (size_t length = 0;;) {
    const auto fitting = std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return wanted.contains(plain_name(layout, name.substr(length)));
    });
    if (fitting > most) {
      most = fitting;
      best = length;
    }
    const size_t point = common.find('.', length);
    if (point == std::string::npos) return common.substr(0, best);
    length = point + 1;
  }
}

}  // namespace

HfNames find_names(const HfLayout& layout, const TransformerConfig& sizes, const std::vector<std::string>& file,
                   const std::string& where) {
  const std::vector<HfTensor> tensors = layout.tensors(sizes);
  std::set<std::string> wanted, parts;
  for (const HfTensor& tensor : tensors) {
    wanted.insert(tensor.name);
    if (!tensor.task_head) parts.insert(first_part(tensor.name));
  }
  HfNames found;
  found.prefix = foreign_prefix(layout, file, wanted);
  std::map<std::string, std::string> plain;  // of what is left out too: a tied copy is
  for (const std::string& name : file) {
    const std::string shorter = plain_name(layout, name.substr(found.prefix.size()));
    const bool needed = wanted.contains(shorter);
    if (!needed && layout.left_out(shorter))
      found.left_out.push_back(name);
    else if (!needed && !parts.contains(first_part(shorter)))
      found.other.push_back(name);
    else if (!found.files.emplace(shorter, name).second)
      fail(ExitCode::run_failed, "{}: tensor {} is there with and without its prefix", where, shorter);
    plain.emplace(shorter, name);
  }
  for (const HfTensor& tensor : tensors) {
    if (found.files.contains(tensor.name)) {
      for (const std::string& name : tensor.copies)
        if (plain.contains(name)) found.tied.emplace_back(tensor.name, plain.at(name));
      continue;
    }
    const auto copy = std::find_if(tensor.copies.begin(), tensor.copies.end(),
                                   [&](const std::string& name) { return plain.contains(name); });
    if (copy == tensor.copies.end()) continue;
    found.copies[tensor.name] = found.files[tensor.name] = plain.at(*copy);
  }
  return found;
}

}  // namespace headprune
