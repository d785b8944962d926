// One operation on tensors as a case, in which a step is one launch. Matrix products, single kernels, sums, autocast's
// subjects and the GPU's ceilings are operations. This header also has the random data that they run on, and
// autotuning, which selects the fastest of several ways to do the same thing on a GPU.
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

/// A subclass's do_build() allocates and fills the buffers of enqueue() with seeded normal values, never with zeros.
/// Its do_verify() runs the operation that will be timed, after the outputs were overwritten with NaN, and compares the
/// results with float64 or exactly.
class OperationCase : public TorchCase {
 public:
  [[nodiscard]] std::span<const std::string_view> phases() const final {
    static constexpr std::array<std::string_view, 1> kPhases{"launch"};
    return kPhases;
  }
  /// Enqueues the operation once on the current stream. Never synchronises. Throws LibTorch's own exceptions.
  virtual void enqueue() = 0;

 protected:
  using TorchCase::TorchCase;

 private:
  void do_launch(PhaseMarker& marker) final {
    enqueue();
    marker.mark();
  }
};

/// Makes a contiguous tensor of independent, normally distributed values (mean 0, variance 1). The values are the same
/// for the same arguments on the same kind of device, and differ between the buffers of a case. They are drawn in
/// float32 and then rounded to `dtype`, which needs memory for both, so that a case has the same numbers in all
/// precisions.
/// @param seed   seed of the run, CaseContext::seed
/// @param index  number of the buffer in its case: 0, 1, ...
/// @throws       c10::OutOfMemoryError
[[nodiscard]] at::Tensor seeded_normal(at::IntArrayRef shape, at::ScalarType dtype, DeviceKind device,
                                       std::uint64_t seed, std::uint64_t index);

/// One way to do the operation: launch() enqueues it on the current stream.
struct Candidate {
  std::string name;
  std::function<void()> launch;
};

struct AutotuneConditions {
  bool rests{false};         // the device cools down before each launch, as before a burst's sample
  double equal_within{1.0};  // the first candidate within this factor of the best time wins
};

/// Returns the candidate with the shortest median launch. Each candidate is launched once to warm up and then six times
/// between events, in rounds, on an idle device. Synchronises. Made for launches of about a millisecond, for which the
/// cost of the events is small.
/// @param candidates  at least one; a single candidate is returned without a launch
/// @throws            std::invalid_argument; CudaError; any exception of a launch
[[nodiscard]] Candidate fastest_of(std::vector<Candidate> candidates, const AutotuneConditions& conditions = {});

}  // namespace tbench::model
