// One attention core, softmax(scale q k^T) v, forward, backward or both, free of LibTorch in its interface: what a
// benchmark case builds, checks and launches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/precision.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

struct AttentionStepConfig {
  AttentionShape shape;   // a causal mask requires seq_q == seq_kv
  AttentionPass pass{};   // kBackward: the forward pass runs once, in build()
  Precision precision{};  // the storage type; kFp32 and kTf32 both store float32
  std::string impl;       // "naive", "sdpa_flash": see attention/implementation.hpp
  bool deterministic{};   // the same bits every time
  DeviceKind device{};
  std::uint64_t seed{};
  std::string packages{};  // folder of what tools/compile_attention.py made; empty: none
};

/// The names `impl` takes, in order.
[[nodiscard]] std::vector<std::string> attention_impl_names();
/// Those of them that have a GPU kernel for `precision`, and that it changes.
[[nodiscard]] std::vector<std::string> attention_impl_names(Precision precision);
/// Those of these whose backward gives the same bits every time where it is asked to.
[[nodiscard]] std::vector<std::string> deterministic_attention_impl_names(Precision precision);

class AttentionStep {
 public:
  /// @throws  UsageError  for an unknown impl, an extent that is not positive, or a causal mask that is not square
  explicit AttentionStep(AttentionStepConfig config);
  ~AttentionStep();
  AttentionStep(const AttentionStep&) = delete;
  AttentionStep& operator=(const AttentionStep&) = delete;

  /// Why the device or the implementation cannot run this configuration, or nothing. Needs no build(); allocates a few
  /// bytes on the device.
  [[nodiscard]] std::optional<std::string> unsupported_reason() const;
  /// Bytes of device memory that the step certainly holds at once: inputs, results, and the score matrices of an
  /// implementation that keeps them.
  [[nodiscard]] std::int64_t least_bytes() const;
  /// A part of the name of a kernel that each phase has to launch on a GPU: AttentionImpl::kernel_mark.
  [[nodiscard]] std::string_view kernel_mark() const;
  /// Makes q, k, v and, for a backward, the output's gradient: seeded, normal, [batch, heads, seq, head_dim]
  /// contiguous. With a backward, runs the forward pass twice: what it leaves for the backward is weighed.
  /// @throws  OutOfMemory
  void build();
  /// Compares output, row sums' logarithms (where the implementation gives them) and gradients with float64 of the same
  /// inputs: whole tensors, or where that would take long some (batch, head) pairs in whole, the last among them, and
  /// the others for NaN and infinity. What was there before is overwritten with NaN. Synchronises.
  /// @throws  OutOfMemory
  [[nodiscard]] Verification verify();
  /// Enqueues one step on the current stream; calls `phase_end`, which may be empty, after the forward pass and after
  /// the backward, as far as the pass has them. Never synchronises.
  /// @throws  OutOfMemory
  void launch(const std::function<void()>& phase_end);
  /// Bytes of `inputs`, of what is `held` between forward and backward, and of the rest of the peak: `other`.
  [[nodiscard]] std::map<std::string, std::int64_t> memory_split(std::int64_t allocated_peak) const;
  /// `held_bytes`: live allocations after the forward pass less those before it, the output among them; exact. Absent
  /// for a forward pass alone, and on a CPU, whose allocator does not count.
  [[nodiscard]] std::map<std::string, double> counters();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::model
