// Cases of the Attention family: one attention core, softmax(scale q k^T) v, forward, backward or both. Free of
// LibTorch in its interface.
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
  AttentionPass pass{};   // kBackward: the forward pass runs once, in build()
  Precision precision{};  // the storage type; kFp32 and kTf32 both store float32
  std::string impl;       // "naive", "sdpa_flash": see src/model/attention/implementation.hpp
  bool deterministic{};   // the same bits every time
  DeviceKind device{};
  std::uint64_t seed{};
  std::string packages{};  // folder of what tools/compile_attention.py made; empty: none
};

/// The names `impl` takes, in order.
[[nodiscard]] std::vector<std::string> attention_impl_names();
/// Returns the names of implementations that have a GPU kernel for `precision`, and that it changes.
[[nodiscard]] std::vector<std::string> attention_impl_names(Precision precision);
/// Returns the names whose backward gives the same bits every time where it is asked to.
[[nodiscard]] std::vector<std::string> deterministic_attention_impl_names(Precision precision);

/// The kernels that one step launched on a GPU.
struct ObservedKernels {
  std::string names;                   // the case's label `kernels`
  std::optional<std::string> fault{};  // why these cannot be the implementation's kernels
};
/// Launches one step of a case that was built and observes its kernels; returns nothing where nobody can.
/// @param mark  a part of the name of a kernel that each phase has to launch; empty: nothing is asked
using KernelObserver = std::function<std::optional<ObservedKernels>(Case& built, std::string_view mark)>;

/// unsupported_reason() allocates a few bytes on the device. build() makes q, k, v and, for a backward, the output's
/// gradient: seeded, normal, [batch, heads, seq, head_dim] contiguous. With a backward, it runs the forward pass twice
/// and measures the memory that the second one leaves for the backward. verify() compares output, row sums' logarithms
/// (where the implementation gives them) and gradients with float64 of the same inputs: whole tensors, or where that
/// would take too long some complete (batch, head) pairs, the last among them, the output of some queries of all
/// pairs, and everything for NaN and infinity. It first overwrites what was there with NaN. On a GPU it also checks
/// that the step launched the implementation's own kernels. verify_again() refills the operands in place. min_bytes()
/// has inputs, results, and the score matrices of an implementation that keeps them. live_tensors() has `inputs` (q, k,
/// v, the output's gradient, the mask of `naive`), the `activations` that a backward pass alone starts from, and the
/// `results` that a watched step keeps. The counter `held_bytes`: live allocations after the forward pass less those
/// before it, the output among them; exact. Absent for a forward pass alone, and on a CPU, whose allocator does not
/// count.
/// @param observe  may be empty: kernels are not looked at
/// @throws  UsageError  for an unknown impl, an extent that is not positive, or a causal mask that is not square
[[nodiscard]] std::unique_ptr<Case> make_attention_case(AttentionConfig config, KernelObserver observe = {});

}  // namespace tbench::model
