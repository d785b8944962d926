// Arguments of the tests of sm90 plans: a GPU, and problems of batch 4.
#pragma once

#include <cstdint>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm90 {

inline constexpr DeviceLimits kH200{.compute_capability_major = 9,
                                    .compute_capability_minor = 0,
                                    .multiprocessors = 132,
                                    .shared_bytes_per_block = 227 * 1024};

inline AttentionProblem problem_of(Precision precision, std::int64_t seq, std::int64_t head_dim, std::int64_t heads,
                                   bool causal) {
  return {.shape = {.batch = 4, .heads = heads, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = causal},
          .precision = precision,
          .scale = 0.125f};
}

}  // namespace tbench::kernels::sm90
