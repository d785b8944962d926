#include "tbench/model/operation/trial.hpp"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>
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
  constexpr std::size_t kRounds = 5;
  const cuda::Event begin = cuda::make_timing_event();
  const cuda::Event end = cuda::make_timing_event();
  std::vector<std::vector<float>> milliseconds(candidates.size());
  for (const Candidate& candidate : candidates) candidate.launch();
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      milliseconds[i].push_back(milliseconds_of(candidates[i], begin, end));
    }
  }
  for (std::vector<float>& times : milliseconds) std::ranges::nth_element(times, times.begin() + kRounds / 2);
  const auto fastest =
      std::ranges::min_element(milliseconds, {}, [](const std::vector<float>& times) { return times[kRounds / 2]; });
  const auto best = static_cast<std::size_t>(fastest - milliseconds.begin());
  return std::move(candidates[best]);
}

}  // namespace tbench::model
