// One operation on tensors as a case: a step is one launch of it. Matrix products, single kernels, sums, autocast's
// subjects and the GPU's ceilings are operations. And the data that they run on, and autotuning: of several ways to do
// the same thing on a GPU, the fastest.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/torch/torch_case.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// A subclass's do_build() allocates and fills what enqueue() needs: seeded normal values, never zeros. Its do_verify()
/// runs what will be timed, after the outputs were overwritten with NaN, and compares with float64 or exactly.
class OperationCase : public TorchCase {
 public:
  [[nodiscard]] std::span<const std::string_view> phases() const final {
    static constexpr std::array<std::string_view, 1> kPhases{"launch"};
    return kPhases;
  }
  /// Enqueues the operation once on the current stream. Never synchronises. Errors are LibTorch's own.
  virtual void enqueue() = 0;

 protected:
  using TorchCase::TorchCase;

 private:
  void do_launch(PhaseMarker& marker) final {
    enqueue();
    marker.mark();
  }
};

/// A contiguous tensor of independent values of the standard normal distribution: the same for the same arguments on
/// the same kind of device, others for every buffer of a case. Values are drawn in float32 and then rounded to `dtype`,
/// which needs room for both, so that the precisions of one case are given the same numbers.
/// @param seed   of the run, CaseContext::seed
/// @param index  of the buffer in its case: 0, 1, ...
/// @throws       c10::OutOfMemoryError
[[nodiscard]] at::Tensor seeded_normal(at::IntArrayRef shape, at::ScalarType dtype, DeviceKind device,
                                       std::uint64_t seed, std::uint64_t index);

/// One way: launch() enqueues it on the current stream.
struct Candidate {
  std::string name;
  std::function<void()> launch;
};

struct AutotuneConditions {
  bool rests{false};         // the device rests before each launch, as before a burst's sample
  double equal_within{1.0};  // of candidates within this factor of the best the first is taken
};

/// The candidate whose median launch took least: each is launched once before and then six times between events, in
/// rounds, on an idle device. Synchronises. For launches of a millisecond or so, beside which what events add is small.
/// @param candidates  at least one; a single one is not launched
/// @throws            std::invalid_argument; CudaError; whatever a launch throws
[[nodiscard]] Candidate fastest_of(std::vector<Candidate> candidates, const AutotuneConditions& conditions = {});

}  // namespace tbench::model
