// Autotuning of one matrix product, the fastest of several algorithms: its rules, which need no GPU,
// and the timing of one candidate, with it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "tbench/core/units.hpp"
#include "tbench/cuda/cublaslt.hpp"

namespace tbench::cuda {

/// Candidates of a product that are worth timing: the heuristic sorts by its own estimate.
inline constexpr int kAutotuneCandidates = 16;

struct AutotuneRules {
  std::size_t rounds{4};                  // at most so many times of every candidate; even: there as often as back
  double keep_within{1.1};                // candidates slower than the best by this factor are not timed again
  std::optional<double> narrow_within{};  // the same once half of the rounds are over; absent: keep_within
  double equal_within{1.0};               // of candidates within this factor of the best the first is taken
  Seconds budget{1.0};  // no further time is taken once so much has been spent; the first candidate has one anyway
};

struct CandidateTime {
  Seconds launch;  // of one launch
  Seconds spent;   // on timing it
};

/// Times a candidate once; nothing if it cannot run.
using CandidateTimer = std::function<std::optional<CandidateTime>(std::size_t candidate)>;

struct AutotuneResult {
  std::size_t fastest{};
  std::size_t timed{};  // candidates that have a time
};

/// A device's pauses between the times of an autotuning run: as long as before a burst's sample, but at most 5 ms, and
/// the first one, after a long round without any, until the clock has risen again.
class AutotunePauses {
 public:
  void add_work(Seconds busy) { busy_ = busy_ + busy; }
  void pause();

 private:
  bool is_first_{true};
  Seconds busy_;  // since the last pause
};

/// Takes the candidates' times in rounds, in their order and then in the opposite one, so that a clock that changes
/// meets them all alike, and compares their medians.
/// @return  nothing if no candidate can run
[[nodiscard]] std::optional<AutotuneResult> find_fastest(std::size_t candidates, const CandidateTimer& time,
                                                         const AutotuneRules& rules = {});

/// The state of the L2 cache that a timed launch of a product meets.
enum class ProductOperands {
  kWarm,       // what the launch before left there: products of one case, again and again
  kWeightCold  // x, as the kernel that has just made it leaves it, but not w: a layer's weights or kept activations
};

/// `find_fastest` over algorithms of a product, on the operands it is for: launches behind a spin kernel, so many that
/// they take 100 us, after one launch that loads the kernel; warm ones are chained between two events, cold ones have
/// two each, in twice as many rounds. From the second round on the device rests before each time, as before a burst's
/// sample, and first until its clock has risen again if the first round was long: at the power limit another algorithm
/// may be the fastest. Among algorithms within 1 % of the best it is the first. One that cuBLASLt refuses to launch is
/// none. Synchronises.
/// @return  nothing if none can run
/// @throws  CudaError, OutOfMemory: cold launches need twice the L2 cache
[[nodiscard]] std::optional<AutotuneResult> fastest_algorithm(const Matmul& matmul,
                                                              std::span<const MatmulAlgorithm> algorithms,
                                                              const MatmulOperands& operands, cudaStream_t stream,
                                                              ProductOperands met = ProductOperands::kWarm);

}  // namespace tbench::cuda
