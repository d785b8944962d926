#include "tbench/model/operation/trial.hpp"

#include <c10/cuda/CUDAStream.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tbench/cuda/handle.hpp"
#include "tbench/cuda/matmul_trial.hpp"

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

Candidate fastest_of(std::vector<Candidate> candidates, const TrialConditions& conditions) {
  if (candidates.empty()) throw std::invalid_argument{"fastest_of: no candidates"};
  if (candidates.size() == 1) return std::move(candidates.front());
  // Nobody drops out, and nothing ends it early.
  const cuda::TrialRules rules{.rounds = 6,
                               .keep_within = std::numeric_limits<double>::infinity(),
                               .equal_within = conditions.equal_within,
                               .budget = Seconds{std::numeric_limits<double>::infinity()}};
  const cuda::Event begin = cuda::make_timing_event();
  const cuda::Event end = cuda::make_timing_event();
  for (const Candidate& candidate : candidates) candidate.launch();
  cuda::TrialPauses pauses;
  const auto time = [&](std::size_t i) -> std::optional<cuda::CandidateTime> {
    if (conditions.rests) pauses.pause();
    const Seconds launch{static_cast<double>(milliseconds_of(candidates[i], begin, end)) * 1e-3};
    pauses.add_work(launch);
    return cuda::CandidateTime{.launch = launch, .spent = {}};
  };
  return std::move(candidates[cuda::find_fastest(candidates.size(), time, rules).value().fastest]);
}

}  // namespace tbench::model
