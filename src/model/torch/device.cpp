#include "tbench/model/device.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <array>
#include <cstddef>
#include <optional>

#include "model/torch/allocation_logger.hpp"
#include "tbench/model/backward_ranges.hpp"

namespace tbench::model {
namespace {

constexpr int kAmpereMajor = 8;  // major compute capability of the first GPUs with bfloat16 and TF32 tensor cores

/// Returns the version of the cuBLAS that LibTorch has loaded, or nullopt if there is none. The function is looked up
/// by name, since linking cuBLAS here could load a second library.
std::optional<std::string> cublas_version() {
  using GetProperty = int (*)(int, int*);  // cublasStatus_t cublasGetProperty(libraryPropertyType, int*)
  const auto get_property = reinterpret_cast<GetProperty>(::dlsym(RTLD_DEFAULT, "cublasGetProperty"));
  if (get_property == nullptr) return std::nullopt;
  std::array<int, 3> parts{};  // MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL are 0, 1, 2
  for (int part = 0; part < 3; ++part) {
    if (get_property(part, &parts.at(static_cast<std::size_t>(part))) != 0) return std::nullopt;
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

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
    return {.allocated = stats.allocated_bytes[kAggregate].peak,
            .requested = stats.requested_bytes[kAggregate].peak,
            .reserved = stats.reserved_bytes[kAggregate].peak};
  }

  [[nodiscard]] std::int64_t allocated_now() const override {
    return allocator::getDeviceStats(kDevice).allocated_bytes[kAggregate].current;
  }

  void start_log() override {
    static_cast<void>(stop_log());
    log_.emplace(c10::Device{c10::kCUDA, kDevice}, allocated_now());
    credited_.emplace();
  }
  [[nodiscard]] std::size_t logged_events() const override { return log_ ? log_->events() : 0; }
  AllocationLog stop_log() override {
    credited_.reset();
    AllocationLog log = log_ ? log_->take() : AllocationLog{};
    log_.reset();
    return log;
  }

 private:
  std::optional<AllocationLogger> log_;
  std::optional<BackwardRanges> credited_;  // its listener is in front of the log's
};

}  // namespace

void limit_cuda_memory(double share) {
  at::globalContext().lazyInitDevice(at::kCUDA);
  allocator::setMemoryFraction(share, kDevice);
}

int cuda_device_count() noexcept { return c10::cuda::device_count(); }

std::optional<std::string> device_unsupported_reason(DeviceKind device, Precision precision) {
  const bool needs_ampere = precision == Precision::kTf32 || precision == Precision::kBf16;
  if (device == DeviceKind::kCpu) {
    if (precision == Precision::kTf32) return "TF32 is a mode of GPU matrix products, which a CPU does not have";
    if (precision == Precision::kFp16) return "fp16 is measured on GPUs only";
    return std::nullopt;
  }
  if (cuda_device_count() == 0) return "no CUDA device";
  const auto* properties = at::cuda::getCurrentDeviceProperties();
  if (needs_ampere && properties->major < kAmpereMajor) {
    return fmt::format("{} needs compute capability 8.0, the GPU has {}.{}", to_string(precision), properties->major,
                       properties->minor);
  }
  return std::nullopt;
}

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> versions{{"libtorch", TORCH_VERSION}};
  const auto& hooks = at::detail::getCUDAHooks();
  if (hooks.hasCuDNN() || hooks.compiledWithCuDNN()) {
    // Since cuDNN 9: major * 10000 + minor * 100 + patch.
    const long version = hooks.versionRuntimeCuDNN();
    versions["cudnn"] = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
  if (const std::optional<std::string> version = cublas_version()) versions["cublas"] = *version;
  return versions;
}

void use_one_cpu_thread() { at::set_num_threads(1); }

std::unique_ptr<MemoryProbe> make_cuda_memory_probe() { return std::make_unique<CudaMemoryProbe>(); }

}  // namespace tbench::model
