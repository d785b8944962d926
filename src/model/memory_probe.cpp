#include "tbench/model/memory_probe.hpp"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace tbench::model {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr c10::DeviceIndex kDevice = 0;
constexpr auto kAggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

class CudaMemoryProbe final : public MemoryProbe {
 public:
  CudaMemoryProbe() { at::globalContext().lazyInitDevice(at::kCUDA); }

  void release_cached() override {
    c10::cuda::device_synchronize();
    at::cuda::clearCublasWorkspaces();
    allocator::emptyCache();
  }

  void reset_peaks() override { allocator::resetPeakStats(kDevice); }

  [[nodiscard]] MemoryPeaks peaks() const override {
    const auto stats = allocator::getDeviceStats(kDevice);
    return {.allocated = stats.allocated_bytes[kAggregate].peak, .reserved = stats.reserved_bytes[kAggregate].peak};
  }

  [[nodiscard]] std::int64_t allocated_now() const override {
    return allocator::getDeviceStats(kDevice).allocated_bytes[kAggregate].current;
  }
};

}  // namespace

std::unique_ptr<MemoryProbe> make_cuda_memory_probe() { return std::make_unique<CudaMemoryProbe>(); }

}  // namespace tbench::model
