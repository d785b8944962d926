// The Overlap family: how much communication between the ranks slows down matrix products that run at the same time.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/overlap_case.hpp"

namespace tbench::bench::overlap_family {
namespace {

using Values = std::vector<std::string>;

/// The bucket sizes of DataParallel in bytes: 1, 25 and 100 MiB.
const Values kBucketBytes{"1048576", "26214400", "104857600"};

CaseTable table(Suite suite, Values bytes, Values precision) {
  return {"buckets",
          suite,
          /*is_course_grid=*/true,
          {{"bytes", std::move(bytes)}, {"precision", std::move(precision)}, {"gpus", {}}}};
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {
      .spec = {.name = "Overlap",
               .keys = {{"bytes", {}}, {"precision", {"fp32", "tf32", "bf16"}}, {"gpus", {}}},
               .tables = {table(Suite::kSmoke, {"1048576"}, {"fp32"}), table(Suite::kStandard, {"26214400"}, {"bf16"}),
                          table(Suite::kFull, kBucketBytes, {"fp32", "tf32", "bf16"})},
               .invalid_reason = {}},
      .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
        if (context.group == nullptr) throw std::logic_error{id.name() + ": made without a group of ranks"};
        return model::make_overlap_case({.bytes = id.int_at("bytes"),
                                         .precision = parse_enum<Precision>(id.at("precision")).value(),
                                         .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                                         .seed = context.seed},
                                        *context.group);
      },
      .precision = [](const CaseId& id) { return parse_enum<Precision>(id.at("precision")); },
      .spans_ranks = true};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Overlap", .order = 110, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::overlap_family
