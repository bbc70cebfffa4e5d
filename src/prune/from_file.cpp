// An order or masks written by hand or by another tool; prune/head_file.h has the format.
#include <algorithm>

#include "core/error.h"
#include "prune/head_file.h"
#include "prune/ranking.h"

namespace headprune {
namespace {

class FromFile final : public PruneRule {
 public:
  struct Options : AllowedOptions {
    std::filesystem::path path;
    std::optional<std::vector<double>> fractions;
    std::optional<std::vector<int64_t>> heads;

    template <class V>
    void fields(V& v) {
      v("path", path,
        "JSON file: {\"order\":[\"encoder.L0.H1\",...]}, from first to remove to last, or "
        "{\"masks\":[{\"name\":\"a\",\"removed\":{\"encoder\":{\"0\":[1]}}},...]}, removed heads by kind and layer: "
        "rows "
        "of their own, each under its name",
        required, existing_file);
      v("fractions", fractions,
        "fractions of the heads that may go to remove along an order; without them and `heads` one head after the "
        "other. "
        "Not for masks",
        [](const std::optional<std::vector<double>>& given) {
          const bool fine =
              !given || (!given->empty() && std::all_of(given->begin(), given->end(), [](double fraction) {
                return fraction >= 0 && fraction <= 1;
              }));
          return std::string(fine ? "" : "expected numbers between 0 and 1");
        });
      v("heads", heads, "numbers of heads to remove along an order, beside the fractions", at_least(0));
      AllowedOptions::fields(v);
    }
  };
  explicit FromFile(Options options) : options_(std::move(options)) {}

  RulePlan plan(const RuleInput& input) const override {
    RulePlan plan;
    const OrderLimits limits{.kinds = {}, .fixed = fixed_heads(options_, input, plan)};
    const Removals removals = read(input.blocks, limits);
    plan.add(removals.messages);
    Unit& unit = plan.units.emplace_back();
    unit.name = options_.path.filename().string();
    for (const Removal& removal : removals.list) {
      PlannedPoint point = sweep_point(input, limits, std::ssize(unit.points), removal.removed.size());
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

  Removals read(const Blocks& blocks, const OrderLimits& limits) const {
    HeadFile file = read_head_file(options_.path, blocks);
    const std::string path = options_.path.string();
    Removals removals;
    if (file.has_masks) {
      if (options_.fractions || options_.heads || options_.any())
        fail(ExitCode::usage, "{}: the file holds masks, which are taken as they are; drop `{}`", path,
             unused_option());
      for (const NamedMask& mask : file.masks) removals.list.push_back({mask.removed, mask.name});
      return removals;
    }
    const size_t listed = file.order.size();
    std::erase_if(file.order, [&](const HeadId& head) { return limits.fixed.contains(head); });
    if (file.order.size() < listed)
      removals.messages.push_back(
          fmt::format("{} heads of the order may not go and are passed over", listed - file.order.size()));
    if (!options_.fractions && !options_.heads) {
      for (size_t heads = 0; heads <= file.order.size(); ++heads)
        removals.list.push_back(
            {HeadSet(std::vector<HeadId>(file.order.begin(), file.order.begin() + static_cast<int64_t>(heads)))});
      return removals;
    }
    const RemovalNumbers numbers{options_.fractions.value_or(std::vector<double>()),
                                 options_.heads.value_or(std::vector<int64_t>())};
    const TargetList list = numbered_targets(numbers, blocks, limits);
    removals.messages.insert(removals.messages.end(), list.messages.begin(), list.messages.end());
    for (const RemovalTarget& target : list.targets) {
      try {
        removals.list.push_back({choose_heads(file.order, blocks, limits, target, {})});
      } catch (const Error& error) {
        throw Error(error.code(), path + ": " + error.what());
      }
    }
    return removals;
  }

  const char* unused_option() const {
    return options_.fractions ? "fractions"
           : options_.heads   ? "heads"
           : options_.only    ? "only"
           : options_.layers  ? "layers"
                              : "protect";
  }

  Options options_;
};

const Register<PruneRule, FromFile> register_from_file{"from_file",
                                                       "an order or masks written by hand or by another tool"};

}  // namespace
}  // namespace headprune
