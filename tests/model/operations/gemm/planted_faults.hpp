// Matrix products with one fault per product, of kinds that occur in matrix kernels. The verification of a product must
// find them. They compute on the CPU in every precision and imitate fp8 and TF32. The correct product is computed in
// float64 and rounded.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/operations/gemm/implementation.hpp"

namespace tbench::model::planted_gemm {

/// The state that a faulty product keeps from one launch to the next.
struct State {
  at::Tensor y;          // y of the previous launch
  at::Tensor x, w;       // x and w of the first launch, in float64
  at::Tensor workspace;  // the split sums
};

struct Fault {
  std::string name;
  void (*launch)(GemmOperands& operands, State& state);
  std::vector<GemmPrecision> precisions{kAllGemmPrecisions.begin(), kAllGemmPrecisions.end()};
  std::int64_t m{150}, n{104}, k{336};  // the last tile in each dimension is not full
};

[[nodiscard]] std::vector<Fault> all_faults();

/// Writes the correct product; used for the trial without a fault.
void launch_right(GemmOperands& operands, State& state);

class FaultyProduct final : public GemmProduct {
 public:
  FaultyProduct(const GemmOperands& operands, const Fault& fault) : operands_{operands}, fault_{fault} {}
  void launch() override;

 private:
  GemmOperands operands_;
  const Fault& fault_;
  State state_;
};

}  // namespace tbench::model::planted_gemm
