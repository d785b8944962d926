// Products that are wrong in one respect each, as matrix kernels are: what the verification of a product has to find.
// They compute on the CPU in every precision, fp8 and TF32 imitated; a right one is the product in float64, rounded.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/operations/gemm/implementation.hpp"

namespace tbench::model::planted_gemm {

/// The state that a faulty product keeps from one launch to the next.
struct State {
  at::Tensor y;          // of the launch before
  at::Tensor x, w;       // of the first launch, in float64
  at::Tensor workspace;  // of the split sums
};

struct Fault {
  std::string name;
  void (*launch)(GemmOperands& operands, State& state);
  std::vector<GemmPrecision> precisions{kAllGemmPrecisions.begin(), kAllGemmPrecisions.end()};
  std::int64_t m{150}, n{104}, k{336};  // the last tile of each is not full
};

[[nodiscard]] std::vector<Fault> all_faults();

/// Right, for the fault that is none.
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
