// Autotuning of one matrix product: selects the fastest of several algorithms. The selection rules need no GPU; timing
// a candidate does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "tbench/core/units.hpp"
#include "tbench/cuda/cublaslt.hpp"

namespace tbench::cuda {

/// The number of a product's candidates that are timed; the heuristic has sorted them by its own estimate.
inline constexpr int kAutotuneCandidates = 16;

struct AutotuneRules {
  std::size_t rounds{4};    // largest number of times per candidate; even, so that both orders occur equally often
  double keep_within{1.1};  // candidates slower than the best by this factor are dropped
  std::optional<double> narrow_within{};  // this factor after half of the rounds; if absent, keep_within
  double equal_within{1.0};               // the first candidate within this factor of the best is selected
  Seconds budget{1.0};  // timing stops once this much is spent, but the first candidate is always timed
};

struct CandidateTime {
  Seconds launch;  // time of one launch
  Seconds spent;   // host time spent on timing the candidate
};

/// Times a candidate once. Returns nullopt if the candidate cannot run.
using CandidateTimer = std::function<std::optional<CandidateTime>(std::size_t candidate)>;

struct AutotuneResult {
  std::size_t fastest{};
  std::size_t timed{};  // number of candidates with a time
};

/// Pauses the device between the times of an autotuning run: as long as before a burst's sample, but at most 5 ms. If
/// the first round, which has no pauses, was long, the first pause lasts until the clock has risen again.
class AutotunePauses {
 public:
  void add_work(Seconds busy) { busy_ = busy_ + busy; }
  void pause();

 private:
  bool is_first_{true};
  Seconds busy_;  // since the last pause
};

/// Times the candidates in rounds and compares their medians. The order is reversed in every other round, so that a
/// drifting clock affects all candidates alike.
/// @return  nullopt if no candidate can run
[[nodiscard]] std::optional<AutotuneResult> find_fastest(std::size_t candidates, const CandidateTimer& time,
                                                         const AutotuneRules& rules = {});

/// The state of the L2 cache that a timed launch of a product meets.
enum class ProductOperands {
  kWarm,       // as the previous launch left it: for repeated products of one case
  kWeightCold  // x is cached, as just written by a kernel, but w is not: a layer's weights or saved activations
};

/// Runs find_fastest() over algorithms of a product with the operands on which it will run. A sample consists of
/// launches that take 100 us together and are hidden by a spin kernel; one launch before the first sample loads the
/// kernel. Warm launches are chained between two events; cold launches have two events each and twice as many rounds.
/// The device rests before each sample, as before a burst's sample, except in the first round. After a long first round
/// the first rest lasts until the clock has risen again, because at the power limit another algorithm may be the
/// fastest. The first algorithm within 1 % of the best is selected. An algorithm that cuBLASLt refuses to launch is
/// skipped. Synchronises.
/// @return  nullopt if no algorithm can run
/// @throws  CudaError, OutOfMemory  (cold launches need memory of twice the L2 cache)
[[nodiscard]] std::optional<AutotuneResult> fastest_algorithm(const Matmul& matmul,
                                                              std::span<const MatmulAlgorithm> algorithms,
                                                              const MatmulOperands& operands, cudaStream_t stream,
                                                              ProductOperands met = ProductOperands::kWarm);

}  // namespace tbench::cuda
