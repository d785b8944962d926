#include "studies/kernels/attention_sums.hpp"

#include <algorithm>

#include "tbench/core/step_counts.hpp"

namespace tbench::studies {
namespace {

template <class Counts>
OperationSum sum_if(std::span<const AttentionKernel> kernels, const Counts& counts) {
  OperationSum sum;
  for (const AttentionKernel& kernel : kernels) {
    if (!counts(kernel)) continue;
    sum.calls += kernel.calls;
    sum.total = sum.total + kernel.total;
  }
  return sum;
}

OperationSum sum_of_both(const OperationSum& a, const OperationSum& b) {
  return {.calls = a.calls + b.calls, .total = a.total + b.total};
}

OperationSum without_exponential(std::span<const AttentionKernel> core) {
  return sum_if(core, [](const AttentionKernel& kernel) {
    return kernel.part == AttentionPart::kSoftmax && kernel.step != kExponential;
  });
}

std::string softmax_name(std::span<const AttentionKernel> core) {
  const auto is_other = [](const AttentionKernel& kernel) {
    return kernel.part == AttentionPart::kSoftmax && kernel.step != kFused;
  };
  const auto fused = std::ranges::count(core, kFused, &AttentionKernel::step);
  return fused == 1 && std::ranges::none_of(core, is_other) ? "softmax, one fused kernel" : "softmax";
}

}  // namespace

std::vector<AttentionKernel> core_of(std::span<const Record* const> records, std::string_view phase) {
  std::vector<AttentionKernel> kernels = attention_kernels(records);
  std::erase_if(kernels, [phase](const AttentionKernel& kernel) { return kernel.phase != phase; });
  return kernels;
}

Seconds time_in(std::span<const Record* const> records, std::string_view phase) {
  const std::vector<TracedPhase> phases = traced_phases(records);
  const TracedPhase* const found = phase_named(phases, phase);
  return found == nullptr ? Seconds{} : found->total;
}

std::optional<double> layers_of(const CaseId& id, std::span<const ModelSize> sizes) {
  const std::optional<ModelSize> size = model_size_of(id, sizes);
  return size ? std::optional{static_cast<double>(size->num_layers)} : std::nullopt;
}

OperationSum sum_of(std::span<const AttentionKernel> kernels) {
  return sum_if(kernels, [](const AttentionKernel&) { return true; });
}

OperationSum sum_of(std::span<const AttentionKernel> kernels, AttentionPart part) {
  return sum_if(kernels, [part](const AttentionKernel& kernel) { return kernel.part == part; });
}

OperationSum sum_of(std::span<const AttentionKernel> kernels, std::string_view step) {
  return sum_if(kernels, [step](const AttentionKernel& kernel) { return kernel.step == step; });
}

bool has_exponential(std::span<const AttentionKernel> core) {
  return sum_of(core, kExponential).calls > 0 && sum_of(core, kFused).calls == 0;
}

std::vector<NamedSum> four_parts(std::span<const AttentionKernel> core) {
  return {{"QK^T", sum_of(core, AttentionPart::kScores)},
          {softmax_name(core), sum_of(core, AttentionPart::kSoftmax)},
          {"attention times V", sum_of(core, AttentionPart::kContext)},
          {"others", sum_of(core, AttentionPart::kOther)}};
}

std::vector<NamedSum> five_parts(std::span<const AttentionKernel> core) {
  std::vector<NamedSum> parts = four_parts(core);
  if (!has_exponential(core)) return parts;
  parts[1] = {"softmax without exponential", without_exponential(core)};
  parts.insert(parts.begin() + 2, {std::string{kExponential}, sum_of(core, kExponential)});
  return parts;
}

std::string largest_part(std::span<const AttentionKernel> core) {
  const std::vector<NamedSum> parts = four_parts(core);
  return std::ranges::max_element(parts, {}, [](const NamedSum& part) { return part.sum.total.value; })->name;
}

std::vector<NamedSum> softmax_sums(std::span<const AttentionKernel> core) {
  const OperationSum all = sum_of(core, AttentionPart::kSoftmax);
  if (!has_exponential(core)) return {{"(softmax)", all}};
  std::vector<NamedSum> sums;
  const OperationSum subtraction = sum_of(core, "subtraction");
  if (subtraction.calls > 0) {
    sums.push_back({"(subtraction and exponential)", sum_of_both(subtraction, sum_of(core, kExponential))});
  }
  sums.push_back({"(softmax without exponential)", without_exponential(core)});
  sums.push_back({"(softmax with exponential)", all});
  return sums;
}

}  // namespace tbench::studies
