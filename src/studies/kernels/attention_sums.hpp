// Sums over the operations of attention's core: its parts, and softmax with and without the exponential.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/kernels/attention_kernels.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/model_size.hpp"

namespace tbench::studies {

/// A sum over operations, per step. Copies and fills count in its time, not in its calls.
struct NamedSum {
  std::string name;
  OperationSum sum;
};

/// Returns the operations of attention's core in one phase.
[[nodiscard]] std::vector<AttentionKernel> core_of(std::span<const Record* const> records, std::string_view phase);

/// Returns the GPU's time in a phase, which is 0 if the trace does not have the phase.
[[nodiscard]] Seconds time_in(std::span<const Record* const> records, std::string_view phase);

/// Returns the number of layers of the case's model.
[[nodiscard]] std::optional<double> layers_of(const CaseId& id, std::span<const ModelSize> sizes);

[[nodiscard]] OperationSum sum_of(std::span<const AttentionKernel> kernels);
[[nodiscard]] OperationSum sum_of(std::span<const AttentionKernel> kernels, AttentionPart part);
[[nodiscard]] OperationSum sum_of(std::span<const AttentionKernel> kernels, std::string_view step);

/// Returns whether softmax has a kernel for the exponential alone, and no kernel that does several steps.
[[nodiscard]] bool has_exponential(std::span<const AttentionKernel> core);

/// Returns the product QK^T, softmax, the product of attention and V, and the other operations. The name of softmax
/// says if it is one fused kernel.
[[nodiscard]] std::vector<NamedSum> four_parts(std::span<const AttentionKernel> core);
/// Returns the four parts, with softmax divided into the exponential and the rest if has_exponential().
[[nodiscard]] std::vector<NamedSum> five_parts(std::span<const AttentionKernel> core);

/// Returns the name of the part among four_parts() that takes the most time.
[[nodiscard]] std::string largest_part(std::span<const AttentionKernel> core);

/// Returns the sums of softmax: with and without the exponential, and of subtraction and exponential. If not
/// has_exponential(), there is only the sum of all.
[[nodiscard]] std::vector<NamedSum> softmax_sums(std::span<const AttentionKernel> core);

}  // namespace tbench::studies
