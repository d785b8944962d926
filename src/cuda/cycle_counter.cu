#include "tbench/cuda/cycle_counter.hpp"

#include <algorithm>
#include <vector>

#include "cuda/global_timer.cuh"
#include "tbench/cuda/error.hpp"

namespace tbench::cuda {
namespace {

/// Writes one mark per multiprocessor. An idle device spreads the blocks over all of them; one without a block has no
/// mark.
__global__ void mark_kernel(CycleMark* marks, unsigned multiprocessors) {
  unsigned multiprocessor;
  CycleMark mark;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(mark.cycles)::"memory");
  mark.nanoseconds = global_nanoseconds();
  if (multiprocessor < multiprocessors) marks[multiprocessor] = mark;
}

}  // namespace

std::optional<CountedCycles> counted_cycles(std::span<const CycleMark> begin, std::span<const CycleMark> end) {
  std::vector<CountedCycles> counted;
  for (std::size_t i = 0; i < std::min(begin.size(), end.size()); ++i) {
    const CycleMark first = begin[i], last = end[i];
    const bool has_both = first.nanoseconds != 0 && last.nanoseconds > first.nanoseconds && last.cycles > first.cycles;
    if (!has_both) continue;
    counted.push_back({.cycles = static_cast<double>(last.cycles - first.cycles),
                       .time = {static_cast<double>(last.nanoseconds - first.nanoseconds) * 1e-9}});
  }
  if (counted.empty()) return std::nullopt;
  const auto middle = counted.begin() + static_cast<std::ptrdiff_t>(counted.size() / 2);
  std::ranges::nth_element(counted, middle, {}, [](const CountedCycles& of) { return of.cycles / of.time.value; });
  return *middle;
}

CycleCounter::CycleCounter() : multiprocessors_{} {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  marks_ = make_device_memory(2 * static_cast<std::size_t>(multiprocessors_) * sizeof(CycleMark));
  mark(static_cast<CycleMark*>(marks_.get()));  // loads the kernel
}

void CycleCounter::mark(CycleMark* marks) const {
  TBENCH_CUDA_CHECK(cudaMemset(marks, 0, static_cast<std::size_t>(multiprocessors_) * sizeof(CycleMark)));
  mark_kernel<<<multiprocessors_, 1>>>(marks, static_cast<unsigned>(multiprocessors_));
  TBENCH_CUDA_CHECK(cudaGetLastError());
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
}

void CycleCounter::begin() { mark(static_cast<CycleMark*>(marks_.get())); }

std::optional<CountedCycles> CycleCounter::end() {
  const auto count = static_cast<std::size_t>(multiprocessors_);
  mark(static_cast<CycleMark*>(marks_.get()) + count);
  std::vector<CycleMark> marks(2 * count);
  TBENCH_CUDA_CHECK(cudaMemcpy(marks.data(), marks_.get(), marks.size() * sizeof(CycleMark), cudaMemcpyDeviceToHost));
  const std::span<const CycleMark> all{marks};
  return counted_cycles(all.first(count), all.last(count));
}

}  // namespace tbench::cuda
