// Cases of the Attention family: one attention core, softmax(scale q k^T) v, forward, backward or both. The interface
// is free of LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

struct AttentionConfig {
  AttentionShape shape;   // a causal mask requires seq_q == seq_kv
  AttentionPass pass{};   // with kBackward, the forward pass runs once, in build()
  Precision precision{};  // the storage type; kFp32 and kTf32 both store float32
  std::string impl;       // "naive", "sdpa_flash", ...: see src/model/attention/implementation.hpp
  bool deterministic{};   // asks for bitwise reproducible results
  DeviceKind device{};
  std::uint64_t seed{};
  std::string packages{};  // folder of the packages that tools/compile_attention.py made; empty if there are none
};

/// Returns all valid values of AttentionConfig::impl, in order.
[[nodiscard]] std::vector<std::string> attention_impl_names();
/// Returns the names of the implementations that can compute in `precision` on a GPU.
[[nodiscard]] std::vector<std::string> attention_impl_names(Precision precision);
/// Returns the names of the implementations that compute in `precision` and whose backward has a deterministic mode.
[[nodiscard]] std::vector<std::string> deterministic_attention_impl_names(Precision precision);

/// The kernels that one step launches on a GPU.
struct ObservedKernels {
  std::string names;                   // the case's label `kernels`
  std::optional<std::string> fault{};  // why `names` cannot be the implementation's kernels
};
/// Launches one step of a case that was built and returns its kernels, or nullopt if kernels cannot be observed.
/// @param mark  part of the name of a kernel that each phase has to launch; empty for no such check
using KernelObserver = std::function<std::optional<ObservedKernels>(Case& built, std::string_view mark)>;

/// Makes an attention case. Its functions:
/// - unsupported_reason() allocates a few bytes on the device.
/// - build() makes q, k, v and, for a backward pass, the output's gradient: seeded, normal,
///   contiguous [batch, heads, seq, head_dim]. For a backward pass, it runs the forward pass twice and measures the
///   memory that the second run keeps.
/// - verify() overwrites old results with NaN, runs the step, and compares the output, the row sums' logarithms (if the
///   implementation returns them) and the gradients with float64 of the same inputs. If comparing whole tensors would
///   take too long, it compares some complete (batch, head) pairs, the last pair among them, and the output of some
///   queries of all pairs, and checks all elements for NaN and infinity. On a GPU it also checks that the step launched
///   the implementation's own kernels.
/// - verify_again() refills the operands in place.
/// - min_bytes() counts inputs, results, and the score matrices of an implementation that keeps them.
/// - live_tensors() has `inputs` (q, k, v, the output's gradient, the mask of `naive`), the `activations` that a
///   backward pass alone starts from, and the `results` that a watched step keeps.
///
/// The counter `held_bytes` is the exact growth of live allocations during the forward pass, the output included. It is
/// absent for a forward pass alone, and on a CPU, whose allocator does not count.
/// @param observe  observes the launched kernels; if empty, kernels are not checked
/// @throws  UsageError  for an unknown impl, an extent that is not positive, or a causal mask that is not square
[[nodiscard]] std::unique_ptr<Case> make_attention_case(AttentionConfig config, KernelObserver observe = {});

}  // namespace tbench::model
