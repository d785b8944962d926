// The Kernel family: the models' memory-bound operations and the LM head with its loss, one at a time, forward and
// backward, by operation, model size, context, precision and implementation.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/families/sustained.hpp"
#include "tbench/model/kernel_case.hpp"

namespace tbench::bench::kernel_family {
namespace {

using Values = std::vector<std::string>;
using model::KernelPass;

const std::vector<KernelPass> kPasses{KernelPass::kForward, KernelPass::kBackward};
const std::vector<Precision> kPrecisions{Precision::kFp32, Precision::kBf16, Precision::kFp16};

template <class Named>
Values names_of(const std::vector<Named>& values) {
  Values names;
  for (const Named value : values) names.emplace_back(to_string(value));
  return names;
}

struct Grid {
  std::string name;
  Suite suite{};
  Values sizes;
  Values contexts;
  std::vector<Precision> precisions;
  bool is_course_grid{true};
  std::string batch{"4"};
  Values regimes{"burst"};
};

/// Adds one table per operation, because each has different passes, precisions and implementations.
void add(std::vector<CaseTable>& tables, const Grid& grid, const Values& ops) {
  for (const std::string& op : ops) {
    const model::KernelVariants variants = model::kernel_variants(op);
    std::vector<Precision> precisions = grid.precisions;
    std::erase_if(precisions, [&](Precision precision) {
      return std::ranges::find(variants.precisions, precision) == variants.precisions.end();
    });
    tables.push_back({grid.name,
                      grid.suite,
                      grid.is_course_grid,
                      {{"op", {op}},
                       {"size", grid.sizes},
                       {"ctx", grid.contexts},
                       {"batch", {grid.batch}},
                       {"pass", names_of(variants.passes)},
                       {"precision", names_of(precisions)},
                       {"impl", variants.impls},
                       regime_axis(grid.regimes)}});
  }
}

Values with(Values values, std::span<const ModelSize> extra) {
  for (const ModelSize& size : extra) values.push_back(size.name);
  return values;
}

/// Returns the operations on activations; the time of a parameter's cast or update does not depend on the context.
Values ops_of_tokens() {
  Values ops = model::kernel_op_names();
  std::erase_if(ops, [](const std::string& op) { return !model::kernel_variants(op).counts_tokens; });
  return ops;
}

/// Returns the LM head of a published size, whose vocabulary needs chunks of rows.
Grid published_head() {
  return {.name = "published",
          .suite = Suite::kFull,
          .sizes = {"llama3.1-8B"},
          .contexts = {"8192"},
          .precisions = {Precision::kBf16},
          .is_course_grid = false,
          .batch = "1",
          .regimes = {"burst", "sustained"}};
}

std::vector<CaseTable> tables(std::span<const ModelSize> extra) {
  const std::vector<Precision> both{Precision::kFp32, Precision::kBf16};
  const Values ops = model::kernel_op_names();
  std::vector<CaseTable> all;
  add(all, {"course", Suite::kSmoke, with({"tiny"}, extra), {"64"}, both}, ops);
  add(all, {"course", Suite::kStandard, with({"xl"}, extra), {"512"}, both}, ops);
  add(all, {"course", Suite::kFull, with(course_size_names(), extra), {"512"}, both}, ops);
  add(all, {"context", Suite::kFull, with(course_size_names(), extra), {"1024"}, {Precision::kBf16}}, ops_of_tokens());
  add(all, published_head(), {"linear_cross_entropy"});
  return all;
}

KernelPass pass_of(const CaseId& id) { return model::parse_kernel_pass(id.at("pass")).value(); }
Precision precision_of_kernel(const CaseId& id) { return parse_enum<Precision>(id.at("precision")).value(); }

std::optional<std::string> invalid_reason(const CaseId& id) {
  std::optional<std::string> reason =
      model::kernel_invalid_reason(id.at("op"), pass_of(id), precision_of_kernel(id), id.at("impl"));
  if (!reason) return std::nullopt;
  return fmt::format(
      "{}; --tb_axis=Kernel.op takes operations that have the pass, the precision and the implementation, "
      "--benchmark_filter=op:{}/ one with all that it has",
      *reason, id.at("op"));
}

model::KernelConfig config_of_kernel(const CaseId& id, const CaseContext& context) {
  const auto size = std::ranges::find(context.model_sizes, id.at("size"), &ModelSize::name);
  if (size == context.model_sizes.end()) throw std::out_of_range{fmt::format("{}: no such size", id.name())};
  return {.op = id.at("op"),
          .size = *size,
          .context = id.int_at("ctx"),
          .batch = id.int_at("batch"),
          .pass = pass_of(id),
          .precision = precision_of_kernel(id),
          .impl = id.at("impl"),
          .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
          .seed = context.seed};
}

std::vector<KeySpec> keys(std::span<const ModelSize> extra) {
  return {{"op", model::kernel_op_names()},
          {"size", size_names(known_model_sizes(extra))},
          {"ctx", {}},
          {"batch", {}},
          {"pass", names_of(kPasses)},
          {"precision", names_of(kPrecisions)},
          {"impl", model::kernel_impl_names()},
          regime_key()};
}

Family make_family(std::span<const ModelSize> extra_sizes) {
  return {.spec = {.name = "Kernel",
                   .keys = keys(extra_sizes),
                   .tables = tables(extra_sizes),
                   .invalid_reason = &invalid_reason,
                   .regime = Regime::kBurst},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return model::make_kernel_case(config_of_kernel(id, context));
          },
          .precision = [](const CaseId& id) -> std::optional<Precision> {
            if (!model::has_products(id.at("op"))) return std::nullopt;
            return precision_of_kernel(id);
          },
          .ceiling = [sizes = known_model_sizes(extra_sizes)](const CaseId& id) -> std::optional<std::string> {
            const CaseContext anywhere{.on_gpu = false, .seed = 0, .context_time = {}, .model_sizes = sizes};
            return model::kernel_ceiling(config_of_kernel(id, anywhere));
          },
          .prescribe = &prescribe_sustained};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Kernel", .order = 40, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::kernel_family
