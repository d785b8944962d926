#include "model/operations/operation_case.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "model/torch/scopes.hpp"
#include "tbench/cuda/handle.hpp"
#include "tbench/cuda/matmul_autotune.hpp"

namespace tbench::model {
namespace {

/// Returns a generator's seed for one buffer: output number `index` + 1 of SplitMix64 with the state `seed` (Steele,
/// Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The CPU's generator uses only the low 32 bits.
std::uint64_t seed_of_buffer(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U * (index + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// Returns the milliseconds between two events around one launch.
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

at::Tensor seeded_normal(at::IntArrayRef shape, at::ScalarType dtype, DeviceKind device, std::uint64_t seed,
                         std::uint64_t index) {
  at::Generator generator = at::globalContext().defaultGenerator(torch_device(device)).clone();
  generator.set_current_seed(seed_of_buffer(seed, index));
  return at::randn(shape, generator, at::TensorOptions{}.device(torch_device(device)).dtype(at::kFloat)).to(dtype);
}

Candidate fastest_of(std::vector<Candidate> candidates, const AutotuneConditions& conditions) {
  if (candidates.empty()) throw std::invalid_argument{"fastest_of: no candidates"};
  if (candidates.size() == 1) return std::move(candidates.front());
  // No candidate is dropped, and no budget ends the rounds early.
  const cuda::AutotuneRules rules{.rounds = 6,
                                  .keep_within = std::numeric_limits<double>::infinity(),
                                  .equal_within = conditions.equal_within,
                                  .budget = Seconds{std::numeric_limits<double>::infinity()}};
  const cuda::Event begin = cuda::make_timing_event();
  const cuda::Event end = cuda::make_timing_event();
  for (const Candidate& candidate : candidates) candidate.launch();
  cuda::AutotunePauses pauses;
  const auto time = [&](std::size_t i) -> std::optional<cuda::CandidateTime> {
    if (conditions.rests) pauses.pause();
    const Seconds launch{static_cast<double>(milliseconds_of(candidates[i], begin, end)) * 1e-3};
    pauses.add_work(launch);
    return cuda::CandidateTime{.launch = launch, .spent = {}};
  };
  return std::move(candidates[cuda::find_fastest(candidates.size(), time, rules).value().fastest]);
}

}  // namespace tbench::model
