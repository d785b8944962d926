// FLOP of the core of the course's attention, which computes every score, masked or not.
#pragma once

#include <optional>

#include "tbench/core/case_id.hpp"

namespace tbench::studies {

/// Of one forward pass over all layers.
struct AttentionFlop {
  double softmax{};  // 5 B H S^2: maximum, difference, exponential, sum, quotient
  double matmul{};   // 4 B H S^2 D: Q K^T, and weights V
};

/// Of a case of Model; nothing for a size that is not built in: its record does not tell the heads.
[[nodiscard]] std::optional<AttentionFlop> attention_flop(const CaseId& id);

}  // namespace tbench::studies
