// The forward pass of inference: the time of its kernels, and its counts of FLOP and bytes.
#pragma once

#include <optional>
#include <span>

#include "studies/roofline/forward_parts.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"

namespace tbench::studies {

/// The forward pass of inference: the time of its kernels, and its counts.
struct Inference {
  Seconds products;
  Seconds kernels;
  ForwardCounts counts;

  [[nodiscard]] Seconds other() const { return kernels - products; }
  [[nodiscard]] double flop() const { return counts.products + counts.other().flop; }
  [[nodiscard]] double time_share() const { return products / kernels; }
  [[nodiscard]] double flop_share() const { return counts.products / flop(); }
};

/// Returns the forward pass of a case, or nullopt without records, its kernels or its counts.
[[nodiscard]] std::optional<Inference> inference_of(std::span<const Record* const> records);

}  // namespace tbench::studies
