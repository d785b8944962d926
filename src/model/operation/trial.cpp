#include "tbench/model/operation/trial.hpp"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "tbench/cuda/handle.hpp"

namespace tbench::model {
namespace {

/// Milliseconds between two events around one launch.
float milliseconds_of(const Candidate& candidate, const cuda::Event& begin, const cuda::Event& end) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  TBENCH_CUDA_CHECK(cudaEventRecord(begin.get(), stream));
  candidate.launch();
  TBENCH_CUDA_CHECK(cudaEventRecord(end.get(), stream));
  TBENCH_CUDA_CHECK(cudaStreamSynchronize(stream));
  float milliseconds{};
  TBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return milliseconds;
}

}  // namespace

Candidate fastest_of(std::vector<Candidate> candidates) {
  if (candidates.empty()) throw std::invalid_argument{"fastest_of: no candidates"};
  if (candidates.size() == 1) return std::move(candidates.front());
  constexpr int kTimed = 3;
  const cuda::Event begin = cuda::make_timing_event();
  const cuda::Event end = cuda::make_timing_event();
  std::size_t best = 0;
  float best_milliseconds = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].launch();
    for (int timed = 0; timed < kTimed; ++timed) {
      const float milliseconds = milliseconds_of(candidates[i], begin, end);
      if (milliseconds >= best_milliseconds) continue;
      best_milliseconds = milliseconds;
      best = i;
    }
  }
  return std::move(candidates[best]);
}

}  // namespace tbench::model
