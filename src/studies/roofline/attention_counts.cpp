#include "studies/roofline/attention_counts.hpp"

#include <string>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/study_traces.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

std::optional<double> number_of(const CaseId& id, const std::string& key) {
  const auto value = parse_integer(value_or_empty(id, key));
  return value ? std::optional{static_cast<double>(*value)} : std::nullopt;
}

/// Returns rows by the class of the kernels in the forward pass's softmax: its calls per step.
std::vector<TracedRow> softmax_calls(const StepTrace& trace) {
  std::vector<TracedRow> rows;
  for (const TracedRangeKernel& in_range : trace.range_kernels) {
    const std::string& path = trace.ranges.at(in_range.range).path;
    if (!path.starts_with("FORWARD/") || !path.ends_with("/attention.softmax")) continue;
    rows.push_back({.names = {trace.kernels.at(in_range.kernel).kernel_class}, .values = {in_range.calls}});
  }
  return rows;
}

}  // namespace

std::optional<AttentionCounts> attention_counts(const CaseId& id) {
  const std::optional<ModelSize> size = model_size_of(id, builtin_model_sizes());
  const auto batch = number_of(id, "batch");
  const auto context = number_of(id, "ctx");
  if (!size || !batch || !context) return std::nullopt;
  const Precision precision = parse_enum<Precision>(value_or_empty(id, "precision")).value_or(Precision::kFp32);
  const auto element = static_cast<double>(storage_bytes(precision));
  const auto layers = static_cast<double>(size->num_layers);
  const double rows = layers * static_cast<double>(size->num_heads) * *batch * *context;
  const double elements = rows * *context;
  const auto head_dim = static_cast<double>(size->head_dim());
  const OperationCounts product{.flop = 2 * elements * head_dim, .bytes = element * (elements + 2 * rows * head_dim)};
  return AttentionCounts{.layers = layers,
                         .elements = elements,
                         .scores = product,
                         .softmax = {.flop = 5 * elements, .bytes = 2 * element * elements},
                         .context = product};
}

std::optional<ScorePasses> softmax_passes(std::span<const Record* const> records, double layers) {
  const std::vector<TracedRow> classes = traced_rows(records, &softmax_calls);
  if (classes.empty()) return std::nullopt;
  ScorePasses passes;
  for (const TracedRow& row : classes) {
    const std::string& name = row.names.front();
    const double calls = row.values.front() / layers;
    if (name != "elementwise" && name != "reduction" && name != "softmax_forward") return std::nullopt;
    passes.reads += calls;
    if (name != "reduction") passes.writes += calls;
  }
  return passes;
}

std::optional<double> moved_by_softmax(std::span<const Record* const> records, const AttentionCounts& counts) {
  constexpr double kFloatBytes = 4;
  if (records.empty() || value_or_empty(records.front()->id, "precision") != "fp32") return std::nullopt;
  const auto passes = softmax_passes(records, counts.layers);
  return passes ? std::optional{(passes->reads + passes->writes) * kFloatBytes * counts.elements} : std::nullopt;
}

}  // namespace tbench::studies
