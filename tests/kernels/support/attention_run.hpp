// One attention problem with its inputs on the GPU, runs of the kernels on it, and their required results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/attention_reference.hpp"
#include "support/compare_outputs.hpp"
#include "support/device_tensor.hpp"

namespace tbench::kernels {

enum class Data {
  kNormal,  // q, k, v, grad_o: standard normal
  kLarge,   // q, k so large that scores reach +-1e4, with eight significant bits, so that every precision reads them
            // exactly
  kEqual,   // each tensor is one power of two: all scores, all probabilities and all rounding errors are equal
};

struct AttentionCase {
  AttentionProblem problem;
  Layout layout{Layout::kContiguous};       // layout of q, k, v, o, dq, dk, dv
  Layout grad_layout{Layout::kContiguous};  // layout of grad_o
  Data data{Data::kNormal};
  Guard guard{Guard::kSurrounded};
};

/// @return  scale 1 / sqrt(head_dim)
[[nodiscard]] AttentionProblem attention_problem(const AttentionShape& shape, Precision precision);

/// Returns text such as "batch 2, heads 3, 129 x 129, head_dim 64, causal, bf16, packed".
[[nodiscard]] std::string describe(const AttentionCase& one);

struct ForwardResult {
  DeviceTensor o, lse;
};

struct BackwardResult {
  DeviceTensor dq, dk, dv;
};

/// Byte that fills a workspace beforehand; nothing leaves it as it was allocated.
constexpr std::optional<std::byte> kGarbage{std::byte{0xff}};

/// Computes the gradients by the given function instead of attention_backward(), which may select another kernel.
struct BackwardLaunch {
  std::function<void(const AttentionProblem&, const AttentionBackward&, cudaStream_t)> enqueue{};
  std::size_t workspace_bytes{};
};

struct BackwardOptions {
  bool deterministic{};
  std::optional<std::byte> garbage{kGarbage};
  /// The o and lse that backward reads. If null, the results of the reference are used, so that an error of the forward
  /// kernel does not appear.
  const ForwardResult* forward{};
  std::optional<BackwardLaunch> launch{};
};

class AttentionRun {
 public:
  /// Makes seeded inputs.
  explicit AttentionRun(const AttentionCase& one);

  /// Runs the kernel on poisoned outputs and waits for it.
  [[nodiscard]] ForwardResult forward(std::optional<std::byte> garbage = kGarbage) const;
  [[nodiscard]] BackwardResult backward(const BackwardOptions& options = {}) const;

  /// Compares the outputs with the reference, in the order of the results' members. A byte written outside an output is
  /// a failure, too.
  [[nodiscard]] std::vector<Comparison> check(const ForwardResult& result) const;
  [[nodiscard]] std::vector<Comparison> check(const BackwardResult& result) const;

 private:
  [[nodiscard]] const AttentionReference& reference() const;
  [[nodiscard]] const ForwardResult& reference_forward() const;
  [[nodiscard]] DeviceTensor output(std::int64_t heads, std::int64_t seq) const;
  [[nodiscard]] ForwardResult forward_outputs() const;
  [[nodiscard]] Comparison check(std::string_view name, const DeviceTensor& actual,
                                 const std::vector<Uncertain>& expected) const;

  AttentionCase case_;
  DeviceTensor q_, k_, v_, grad_o_;
  // Computed at the first use.
  mutable std::optional<AttentionReference> reference_;
  mutable std::optional<ForwardResult> reference_forward_;
};

}  // namespace tbench::kernels
