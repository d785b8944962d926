// The Autocast family: the dtype in which each operation of the course's toy model and of the transformer runs.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/model/autocast_case.hpp"

namespace tbench::bench::autocast_family {
namespace {

const std::vector<std::string> kAutocastPrecisions{"fp16", "bf16"};

std::vector<CaseTable> tables() {
  std::vector<CaseTable> all;
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) {
    all.push_back(
        {"dtypes", suite, true, {{"subject", model::autocast_module_names()}, {"precision", kAutocastPrecisions}}});
  }
  return all;
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {
      .spec = {.name = "Autocast",
               .keys = {{"subject", model::autocast_module_names()}, {"precision", kAutocastPrecisions}},
               .tables = tables(),
               .invalid_reason = {}},
      .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
        return model::make_autocast_case({.subject = model::parse_autocast_module(id.at("subject")).value(),
                                          .precision = parse_enum<Precision>(id.at("precision")).value(),
                                          .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                                          .seed = context.seed});
      },
      .precision = [](const CaseId& id) { return parse_enum<Precision>(id.at("precision")); },
      .prescribe = &prescribe_few_samples};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Autocast", .order = 60, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::autocast_family
