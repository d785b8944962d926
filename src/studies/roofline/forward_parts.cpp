#include "studies/roofline/forward_parts.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "studies/engine/study_traces.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::studies {
namespace {

constexpr double kFloatBytes = 4;
constexpr std::array kNames{"embedding", "RMSNorm", "RoPE", "scale and mask", "softmax", "SwiGLU", "residual", "other"};

/// Returns the operation whose kernels a range of the forward pass has, next to its matrix products.
std::string operation_of(std::string_view path) {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  if (last == "embedding") return "embedding";
  if (last == "norm") return "RMSNorm";
  if (last == "attention.rope_q" || last == "attention.rope_k") return "RoPE";
  if (last == "attention.scores" || last == "attention.mask") return "scale and mask";
  if (last == "attention.softmax") return "softmax";
  if (last == "ffn") return "SwiGLU";
  return last == "layer.*" ? "residual" : "other";
}

bool is_product_or_copy(const std::string& kernel_class) {
  return kernel_class == "gemm" || kernel_class == "memcpy" || kernel_class == "memset";
}

/// Returns a row per operation: the time of its kernels.
std::vector<TracedRow> operation_times(const StepTrace& trace) {
  std::map<std::string, double> times;
  for (const TracedRangeKernel& in_range : trace.range_kernels) {
    const std::string& path = trace.ranges.at(in_range.range).path;
    if (!path.starts_with("FORWARD") || is_product_or_copy(trace.kernels.at(in_range.kernel).kernel_class)) continue;
    times[operation_of(path)] += in_range.total.value;
  }
  std::vector<TracedRow> rows;
  for (const char* const name : kNames) {
    if (times.contains(name)) rows.push_back({.names = {name}, .values = {times[name]}});
  }
  return rows;
}

/// Returns the counts of an operation that reads and writes `moved` elements for each element of its result.
OperationCounts per_element(double elements, double flop, double moved) {
  return {.flop = flop * elements, .bytes = moved * kFloatBytes * elements};
}

}  // namespace

OperationCounts ForwardCounts::other() const {
  OperationCounts sum;
  for (const auto& [name, counts] : others) {
    sum.flop += counts.flop;
    sum.bytes += counts.bytes;
  }
  return sum;
}

std::optional<ForwardCounts> forward_counts(const CaseId& id) {
  const std::optional<ModelSize> size = model_size_of(id, builtin_model_sizes());
  const auto attention = attention_counts(id);
  if (!size || !attention) return std::nullopt;
  const std::int64_t context = id.int_at("ctx");
  const std::int64_t batch = id.int_at("batch");
  const StepFloor floor = model_step_floor(*size, context, batch, Pass::kForward, Precision::kFp32);
  const auto tokens = static_cast<double>(context * batch);
  const double stream = tokens * static_cast<double>(size->d_model);
  const double turned = tokens * static_cast<double>(size->q_width() + size->kv_width());
  const double layers = attention->layers;
  return ForwardCounts{.products = floor.products.value + attention->products().flop,
                       .others = {{"embedding", per_element(stream, 0, 2)},
                                  {"RMSNorm", per_element((2 * layers + 1) * stream, 4, 2)},
                                  {"RoPE", per_element(layers * turned, 3, 2)},
                                  {"scale and mask", per_element(attention->elements, 1, 2)},
                                  {"softmax", per_element(attention->elements, 5, 2)},
                                  {"SwiGLU", per_element(layers * tokens * static_cast<double>(size->d_ff), 5, 3)},
                                  {"residual", per_element(2 * layers * stream, 1, 3)}}};
}

std::vector<std::pair<std::string, Seconds>> times_outside_products(std::span<const Record* const> records) {
  std::vector<std::pair<std::string, Seconds>> times;
  for (const TracedRow& row : traced_rows(records, &operation_times)) {
    times.emplace_back(row.names.front(), Seconds{row.values.front()});
  }
  return times;
}

std::optional<double> softmax_rate(std::span<const Record* const> records, const AttentionCounts& counts) {
  const auto moved = moved_by_softmax(records, counts);
  const auto times = times_outside_products(records);
  const auto softmax = std::ranges::find(times, "softmax", &std::pair<std::string, Seconds>::first);
  if (!moved || softmax == times.end() || softmax->second.value <= 0) return std::nullopt;
  return *moved / softmax->second.value;
}

}  // namespace tbench::studies
