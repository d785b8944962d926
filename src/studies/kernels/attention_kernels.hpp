// The operations of attention's core by what they do: the two products, the steps of softmax, and the rest.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"

namespace tbench::studies {

/// The parts of attention's core, in their order. TracedAttention has the same parts.
enum class AttentionPart { kScores, kSoftmax, kContext, kOther };

inline constexpr std::string_view kFused = "fused";
inline constexpr std::string_view kExponential = "exponential";

/// All launches of one kernel, or all copies or fills of one kind, in one part of attention's core.
struct AttentionKernel {
  std::string phase;
  AttentionPart part{};
  std::string step;  // a name of softmax_steps(); empty outside softmax
  std::string name;  // the kernel's full name
  double calls{};    // per step, of kernels; 0 for copies and fills
  Seconds total;     // per step
};

/// Returns the names of the steps of a softmax in their order, from `maximum` to `division`, then kFused, `cast` and
/// `other`.
[[nodiscard]] std::span<const std::string_view> softmax_steps();

/// Returns the step of softmax that a kernel does, by the words of its name: `exponential` for a name with the word
/// `exp`. A kernel of a softmax class, or one whose name has several steps, is kFused.
[[nodiscard]] std::string softmax_step(const TracedKernel& kernel);

/// Returns whether an operation counts as softmax: all operations of the range attention.softmax, and the kernels of a
/// softmax class in the other ranges of attention's core.
[[nodiscard]] bool is_softmax(const TracedRange& range, const TracedKernel& kernel);

/// Returns the operations of attention's core. For several records, calls and time are medians. The result is empty
/// without a trace that has the kernels of its ranges.
[[nodiscard]] std::vector<AttentionKernel> attention_kernels(std::span<const Record* const> records);

}  // namespace tbench::studies
