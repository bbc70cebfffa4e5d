// An order or masks written by hand or by another tool; prune/head_file.h has the format.
#include <algorithm>

#include "core/error.h"
#include "prune/head_file.h"
#include "prune/ranking.h"

namespace headprune {
namespace {

class FromFile final : public PruneRule {
 public:
  struct Options {
    std::filesystem::path path;
    std::optional<std::vector<double>> fractions;

    template <class V>
    void fields(V& v) {
      v("path", path,
        "JSON file: {\"order\":[\"encoder.L0.H1\",...]}, from first to remove to last, or "
        "{\"masks\":[{\"name\":\"a\",\"removed\":{\"encoder\":{\"0\":[1]}}},...]}, removed heads by kind and layer: "
        "rows "
        "of their own, each under its name",
        required, existing_file);
      v("fractions", fractions,
        "fractions of the model's heads to remove along an order; absent: one head after the other. Not for masks",
        [](const std::optional<std::vector<double>>& given) {
          const bool fine =
              !given || (!given->empty() && std::all_of(given->begin(), given->end(), [](double fraction) {
                return fraction >= 0 && fraction <= 1;
              }));
          return std::string(fine ? "" : "expected numbers between 0 and 1");
        });
    }
  };
  explicit FromFile(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    Removals removals = read(input.blocks);
    RulePlan plan;
    plan.messages = std::move(removals.messages);
    Unit& unit = plan.units.emplace_back();
    unit.name = options_.path.filename().string();
    for (const Removal& removal : removals.list) {
      PlannedPoint point = sweep_point(input, {}, std::ssize(unit.points), removal.removed.size());
      point.removed = removal.removed;
      if (!removal.name.empty()) {
        point.spec.name = removal.name;
        point.spec.mask = mask_sha256(input.blocks, removal.removed);
      }
      unit.points.push_back(std::move(point));
    }
    return plan;
  }

  void run(const Unit& unit, Model& model, RuleHost& host) const override {
    for (const PlannedPoint& point : unit.points) host.evaluate(model, point);
  }

 private:
  struct Removal {
    HeadSet removed;
    std::string name = {};  // of a mask; along an order a point is known by its number of heads
  };
  struct Removals {
    std::vector<Removal> list;
    std::vector<std::string> messages;
  };

  Removals read(const Blocks& blocks) const {
    const HeadFile file = read_head_file(options_.path, blocks);
    const std::string path = options_.path.string();
    Removals removals;
    if (file.has_masks) {
      if (options_.fractions)
        fail(ExitCode::usage, "{}: the file holds masks, which are taken as they are; drop `fractions`", path);
      for (const NamedMask& mask : file.masks) removals.list.push_back({mask.removed, mask.name});
      return removals;
    }
    if (!options_.fractions) {
      for (size_t heads = 0; heads <= file.order.size(); ++heads)
        removals.list.push_back(
            {HeadSet(std::vector<HeadId>(file.order.begin(), file.order.begin() + static_cast<int64_t>(heads)))});
      return removals;
    }
    TargetList list = removal_targets(*options_.fractions, blocks, {});
    removals.messages = std::move(list.messages);
    for (const RemovalTarget& target : list.targets) {
      try {
        removals.list.push_back({choose_heads(file.order, blocks, {}, target, {})});
      } catch (const Error& error) {
        throw Error(error.code(), path + ": " + error.what());
      }
    }
    return removals;
  }

  Options options_;
};

const Register<PruneRule, FromFile> register_from_file{"from_file",
                                                       "an order or masks written by hand or by another tool"};

}  // namespace
}  // namespace headprune
