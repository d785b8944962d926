#include "studies/products/inference.hpp"

#include <utility>
#include <vector>

#include "studies/kernels/kernel_figures.hpp"

namespace tbench::studies {

std::optional<Inference> inference_of(std::span<const Record* const> records) {
  if (records.empty()) return std::nullopt;
  const std::vector<TracedPhase> phases = traced_phases(records);
  const TracedPhase* const forward = phase_named(phases, "forward");
  auto counts = forward_counts(records.front()->id);
  if (forward == nullptr || !counts) return std::nullopt;
  Inference found{.products = sum_of(forward->operations, &is_gemm).total,
                  .kernels = sum_of(forward->operations, &is_kernel).total,
                  .counts = std::move(*counts)};
  return found.kernels.value > 0 ? std::optional{std::move(found)} : std::nullopt;
}

}  // namespace tbench::studies
