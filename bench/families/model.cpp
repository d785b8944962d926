// The Model family: a transformer's forward pass, its forward and backward pass, and its training step, by size,
// context, batch, precision and implementation.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::bench::model_family {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kAllLayers = "0";  // names omit it

const Values kPasses{"forward", "forward_backward", "train_step"};

Values execution_names() {
  Values names;
  for (const Execution exec : kAllOf<Execution>) names.emplace_back(to_string(exec));
  return names;
}

std::vector<Axis> axes(Values size, Values ctx, Values pass, Values precision, Values impl,
                       Execution exec = Execution::kStream) {
  return {{"size", std::move(size)},
          {"ctx", std::move(ctx)},
          {"batch", {"4"}},
          {"pass", std::move(pass)},
          {"precision", std::move(precision)},
          {"impl", std::move(impl)},
          {std::string{kLayersKey}, {kAllLayers}, kAllLayers},
          {"exec", {std::string{to_string(exec)}}, std::string{to_string(Execution::kStream)}}};
}

Values with(Values values, std::span<const ModelSize> extra) {
  for (const ModelSize& size : extra) values.push_back(size.name);
  return values;
}

void set_value(std::vector<Axis>& axes, std::string_view key, std::string value) {
  std::ranges::find(axes, key, &Axis::key)->values = {std::move(value)};
}

/// Returns the bytes that a train step in bf16 with batch 1 holds for long: per parameter 16 (a weight and two moments
/// in float32, a copy and a gradient in 16 bits), 2 more for a gradient of tied tables in float32; and the activations
/// of every layer. `fused` holds these, and the others more.
std::int64_t train_step_bytes(const ModelSize& size, std::int64_t context) {
  const std::int64_t q = size.q_width(), kv = size.kv_width();
  const std::int64_t of_token = 12 * size.d_model + 2 * (q + 2 * kv) + 2 * q + 4 * size.num_heads + 4 * size.d_ff +
                                (size.qk_norm ? 2 * (q + kv) : 0);
  const std::int64_t of_tied_table = size.tied ? 2 * size.vocab_size * size.d_model : 0;
  return 16 * parameter_count(size) + of_tied_table + context * size.num_layers * of_token;
}

/// Returns the value of `layers` with which the full suite has a published size: all layers if a train step of the
/// whole size fits into a GPU with 80 GB. If it does not fit, the number is 8, or 4 in the longest context.
const char* layers_in_full(const ModelSize& size, std::int64_t context) {
  constexpr double kBytes = 76.5 * 1024 * 1024 * 1024;  // without context, libraries and the allocator's gaps
  constexpr std::int64_t kLong = 32768;
  if (static_cast<double>(train_step_bytes(size, context)) <= kBytes) return kAllLayers;
  return context < kLong ? "8" : "4";
}

/// Adds the published sizes in long contexts, with the fastest implementations that run them.
void add_published(std::vector<CaseTable>& tables) {
  for (const ModelSize& size : model_sizes_of(SizeGroup::kPublished)) {
    for (const std::int64_t context : {2048, 8192, 32768}) {
      std::vector<Axis> all =
          axes({size.name}, {fmt::format("{}", context)}, {"forward", "train_step"}, {"bf16"}, {"sdpa", "fused"});
      set_value(all, "batch", "1");
      set_value(all, kLayersKey, layers_in_full(size, context));
      tables.push_back({"published", Suite::kFull, false, std::move(all)});
    }
  }
}

std::vector<CaseTable> tables(std::span<const ModelSize> extra) {
  const Values impls = model::model_impl_names();
  std::vector<CaseTable> all{
      {"course", Suite::kSmoke, true, axes(with({"tiny"}, extra), {"64"}, kPasses, {"fp32", "bf16"}, impls)},
      {"course", Suite::kStandard, true,
       axes(with(course_size_names(), extra), {"512"}, {"forward", "train_step"}, {"bf16"}, {"eager", "sdpa"})},
      {"course", Suite::kStandard, true,
       axes(with(course_size_names(), extra), {"512"}, {"forward_backward"}, {"bf16"}, {"sdpa"})},
      {"graph", Suite::kStandard, true,
       axes(with(course_size_names(), extra), {"512"}, {"forward", "train_step"}, {"bf16"},
            {"sdpa", "flash", "fused", "compiled"}, Execution::kGraph)},
      {"context", Suite::kStandard, false,
       axes({"small", "medium"}, {"128", "1024"}, {"train_step"}, {"bf16"}, {"sdpa"})},
      {"precision", Suite::kStandard, false,
       axes({"small", "medium"}, {"512"}, {"forward", "train_step"}, {"fp32", "tf32"}, {"eager"})},
      {"course", Suite::kFull, true,
       axes(with(course_size_names(), extra), {"128", "256", "512", "1024"}, kPasses, {"fp32", "bf16"}, impls)},
      {"graph", Suite::kFull, false, axes(course_size_names(), {"512"}, kPasses, {"bf16"}, impls, Execution::kGraph)},
      {"precision", Suite::kFull, false, axes(course_size_names(), {"512"}, kPasses, {"tf32", "fp16"}, impls)},
  };
  add_published(all);
  return all;
}

Values precision_names() {
  Values names;
  for (const Precision precision : kAllOf<Precision>) names.emplace_back(to_string(precision));
  return names;
}

Precision precision_of(const CaseId& id) { return parse_enum<Precision>(id.at("precision")).value(); }

model::ModelConfig config_of(const CaseId& id, const CaseContext& context) {
  const std::optional<ModelSize> size = model_size_of(id, context.model_sizes);
  if (!size) throw std::out_of_range{fmt::format("{}: no such size, or not so many layers", id.name())};
  return {.size = *size,
          .context = id.int_at("ctx"),
          .batch = id.int_at("batch"),
          .pass = parse_enum<Pass>(id.at("pass")).value(),
          .precision = precision_of(id),
          .impl = id.at("impl"),
          .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
          .seed = context.seed,
          .exec = id.find("exec") != nullptr ? parse_enum<Execution>(id.at("exec")).value() : Execution::kStream,
          .packages = context.packages};
}

Family make_family(std::span<const ModelSize> extra_sizes) {
  return {.spec = {.name = "Model",
                   .keys = {{"size", size_names(known_model_sizes(extra_sizes))},
                            {"ctx", {}},
                            {"batch", {}},
                            {"pass", kPasses},
                            {"precision", precision_names()},
                            {"impl", model::model_impl_names()},
                            {std::string{kLayersKey}, {}},
                            {"exec", execution_names()}},
                   .tables = tables(extra_sizes),
                   .invalid_reason = [sizes = known_model_sizes(extra_sizes)](
                                         const CaseId& id) { return layers_invalid_reason(id, sizes); }},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return model::make_model_case(config_of(id, context));
          },
          .precision = [](const CaseId& id) -> std::optional<Precision> { return precision_of(id); },
          .ceiling = [](const CaseId& id) -> std::optional<std::string> { return "gemm_" + id.at("precision"); }};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Model", .order = 10, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::model_family
