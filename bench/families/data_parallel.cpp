// The DataParallel family: a training step that all ranks run together, by the strategy for synchronising gradients.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/data_parallel_case.hpp"

namespace tbench::bench::data_parallel_family {
namespace {

using Values = std::vector<std::string>;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
/// The value of `bucket_mib` for strategies without buckets; no name contains it.
constexpr const char* kNoBuckets = "0";

// fp16 is missing: with it, the ranks would have to agree on which steps to skip.
const Values kParallelPrecisions{"fp32", "tf32", "bf16"};

Values strategy_names() {
  const auto& names = EnumNames<model::ParallelStrategy>::kNames;
  return {names.begin(), names.end()};
}

Values execution_values() {
  const auto& names = EnumNames<Execution>::kNames;
  return {names.begin(), names.end()};
}

model::ParallelStrategy strategy_of(const CaseId& id) {
  return parse_enum<model::ParallelStrategy>(id.at("strategy")).value();
}

struct Grid {
  Values size, ctx, precision, impl, bucket_mib;
  Execution exec{Execution::kStream};
};

/// Makes one table for strategies with and without buckets; combinations that do not exist are skipped.
CaseTable strategy_table(Suite suite, Grid grid, std::span<const ModelSize> extra) {
  for (const ModelSize& size : extra) grid.size.push_back(size.name);
  grid.bucket_mib.insert(grid.bucket_mib.begin(), kNoBuckets);
  return {"strategies",
          suite,
          /*is_course_grid=*/true,
          {{"size", std::move(grid.size)},
           {"ctx", std::move(grid.ctx)},
           {"batch", {"4"}},
           {"precision", std::move(grid.precision)},
           {"impl", std::move(grid.impl)},
           {"gpus", {}},
           {"strategy", strategy_names()},
           {"bucket_mib", std::move(grid.bucket_mib), kNoBuckets},
           {"exec", {std::string{to_string(grid.exec)}}, std::string{to_string(Execution::kStream)}}}};
}

std::vector<CaseTable> parallel_tables(std::span<const ModelSize> extra) {
  const Grid smoke{
      .size = {"tiny"}, .ctx = {"64"}, .precision = {"fp32", "bf16"}, .impl = {"sdpa"}, .bucket_mib = {"1"}};
  const Grid standard{
      .size = {"small", "xl"}, .ctx = {"512"}, .precision = {"bf16"}, .impl = {"sdpa"}, .bucket_mib = {"25"}};
  const Grid full{.size = {"small", "xl", "2.7B"},
                  .ctx = {"512"},
                  .precision = {"bf16"},
                  .impl = {"sdpa", "fused"},
                  .bucket_mib = {"1", "25", "100"}};
  Grid graphed = standard;
  graphed.exec = Execution::kGraph;
  return {strategy_table(Suite::kSmoke, smoke, extra), strategy_table(Suite::kStandard, standard, extra),
          strategy_table(Suite::kFull, full, extra), strategy_table(Suite::kFull, graphed, {})};
}

bool has_buckets_too_many_or_none(const CaseId& id) {
  return model::has_buckets(strategy_of(id)) != (id.find("bucket_mib") != nullptr);
}

model::DataParallelConfig parallel_config(const CaseId& id, const CaseContext& context) {
  const auto size = std::ranges::find(context.model_sizes, id.at("size"), &ModelSize::name);
  if (size == context.model_sizes.end()) throw std::out_of_range{fmt::format("{}: no such size", id.name())};
  return {
      .model = {.size = *size,
                .context = id.int_at("ctx"),
                .batch = id.int_at("batch"),
                .pass = Pass::kTrainStep,
                .precision = parse_enum<Precision>(id.at("precision")).value(),
                .impl = id.at("impl"),
                .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                .seed = context.seed,
                .exec = id.find("exec") != nullptr ? parse_enum<Execution>(id.at("exec")).value() : Execution::kStream,
                .packages = context.packages},
      .strategy = strategy_of(id),
      .bucket_bytes = id.find("bucket_mib") != nullptr ? id.int_at("bucket_mib") * kMebi : 0};
}

Family make_family(std::span<const ModelSize> extra_sizes) {
  return {.spec = {.name = "DataParallel",
                   .keys = {{"size", size_names(known_model_sizes(extra_sizes))},
                            {"ctx", {}},
                            {"batch", {}},
                            {"precision", kParallelPrecisions},
                            {"impl", model::model_impl_names()},
                            {"gpus", {}},
                            {"strategy", strategy_names()},
                            {"bucket_mib", {}},
                            {"exec", execution_values()}},
                   .tables = parallel_tables(extra_sizes),
                   .invalid_reason = {},
                   .is_passed_over = &has_buckets_too_many_or_none},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            if (context.group == nullptr) throw std::logic_error{id.name() + ": made without a group of ranks"};
            return model::make_data_parallel_case(parallel_config(id, context), *context.group);
          },
          .precision = [](const CaseId& id) { return parse_enum<Precision>(id.at("precision")); },
          .spans_ranks = true};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "DataParallel", .order = 100, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::data_parallel_family
