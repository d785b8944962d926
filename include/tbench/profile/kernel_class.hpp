// The kinds of work that a GPU operation does. kernel_rules.hpp derives the kind from a kernel's name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench::profile {

enum class KernelClass : std::uint8_t {
  kGemm,            // matrix products and convolutions, with their split-K reductions
  kAttentionFused,  // attention in one kernel, and its pre- and postprocess kernels
  kSoftmaxForward,
  kSoftmaxBackward,
  kNorm,
  kElementwise,
  kCast,  // copies to another type
  kCopy,  // copies, transpositions and concatenations
  kReduction,
  kEmbeddingIndex,  // lookups, gathers and scatters
  kOptimizer,       // kernels over lists of tensors
  kLoss,            // log-softmax included
  kDropoutRng,
  kScanSort,
  kCollective,
  kMemcpy,  // copies by the copy engines, not by kernels
  kMemset,
  kOther,
};

}  // namespace tbench::profile

template <>
struct tbench::EnumNames<tbench::profile::KernelClass> {
  static constexpr std::array<std::string_view, 18> kNames{"gemm",
                                                           "attention_fused",
                                                           "softmax_forward",
                                                           "softmax_backward",
                                                           "norm",
                                                           "elementwise",
                                                           "cast",
                                                           "copy",
                                                           "reduction",
                                                           "embedding_index",
                                                           "optimizer",
                                                           "loss",
                                                           "dropout_rng",
                                                           "scan_sort",
                                                           "collective",
                                                           "memcpy",
                                                           "memset",
                                                           "other"};
};
