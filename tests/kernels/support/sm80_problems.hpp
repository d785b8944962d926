// Arguments of the tests of sm80 configs and rules: GPUs, and problems in 16 and in 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm80 {

inline constexpr int kMultiprocessors = 132;
inline constexpr std::size_t kHopperSharedBytes = 227 * 1024;
inline constexpr DeviceLimits kH200{
    .compute_capability_major = 9, .multiprocessors = kMultiprocessors, .shared_bytes_per_block = kHopperSharedBytes};
// Shared memory per CTA: 163 and 99 KiB (CUDA C++ Programming Guide, compute capabilities 8.0 and 8.6).
inline constexpr DeviceLimits kA100{
    .compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * 1024};
inline constexpr DeviceLimits kSmall{
    .compute_capability_major = 8, .multiprocessors = 84, .shared_bytes_per_block = 99 * 1024};

/// Returns a problem with bf16, batch 4, 12 heads and a causal mask.
inline AttentionProblem problem_16bit(std::int64_t seq, std::int64_t head_dim, bool deterministic = false) {
  return {.shape = {.batch = 4, .heads = 12, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = true},
          .precision = Precision::kBf16,
          .scale = 0.125f,
          .deterministic = deterministic};
}

/// Returns a shape with one head and no mask.
inline AttentionShape square(std::int64_t batch, std::int64_t seq, std::int64_t head_dim) {
  return {.batch = batch, .heads = 1, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = false};
}

/// Returns a problem without a mask.
inline AttentionProblem problem_32bit(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t head_dim,
                                      Precision precision = Precision::kTf32) {
  return {.shape = {.batch = batch, .heads = heads, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = false},
          .precision = precision,
          .scale = 1.0f};
}

inline AttentionShape causal(AttentionShape shape) {
  shape.causal = true;
  return shape;
}
inline AttentionProblem causal(AttentionProblem problem) {
  problem.shape.causal = true;
  return problem;
}

}  // namespace tbench::kernels::sm80
