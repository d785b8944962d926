// The Collective family: the communication operations between the ranks of a run, by operation, size and precision.
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/collective_case.hpp"

namespace tbench::bench::collective_family {
namespace {

using Values = std::vector<std::string>;

Values collective_ops() {
  const auto& names = EnumNames<CollectiveOp>::kNames;
  return {names.begin(), names.end()};
}

/// Returns every `step`-th power of two from 2^first to 2^last.
Values powers_of_two(int first, int last, int step) {
  Values bytes;
  for (int exponent = first; exponent <= last; exponent += step) {
    bytes.push_back(fmt::format("{}", std::int64_t{1} << exponent));
  }
  return bytes;
}

/// Makes a table without a value for `gpus`, and so without cases, until for_ranks() sets the number of ranks.
CaseTable table(Suite suite, Values bytes, Values precision) {
  return {"sizes",
          suite,
          /*is_course_grid=*/true,
          {{"op", collective_ops()}, {"bytes", std::move(bytes)}, {"precision", std::move(precision)}, {"gpus", {}}}};
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {.spec = {.name = "Collective",
                   .keys = {{"op", collective_ops()}, {"bytes", {}}, {"precision", {"fp32", "bf16"}}, {"gpus", {}}},
                   .tables = {table(Suite::kSmoke, {"1024", "1048576"}, {"fp32", "bf16"}),
                              table(Suite::kStandard, powers_of_two(10, 30, 5), {"bf16"}),
                              table(Suite::kFull, powers_of_two(10, 32, 2), {"fp32", "bf16"})},
                   .invalid_reason = {}},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            if (context.group == nullptr) throw std::logic_error{id.name() + ": made without a group of ranks"};
            return model::make_collective_case(
                {.op = parse_enum<CollectiveOp>(id.at("op")).value(),
                 .bytes = id.int_at("bytes"),
                 .precision = parse_enum<Precision>(id.at("precision")).value(),
                 .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                 .seed = context.seed},
                *context.group);
          },
          .precision = {},
          .spans_ranks = true};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Collective", .order = 90, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::collective_family
