#include "tbench/cuda/device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <chrono>

#include "tbench/cuda/error.hpp"

namespace tbench::cuda {

namespace {

int current_device() {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

/// Formats a UUID as nvidia-smi prints it: "GPU-", then groups of 8, 4, 4, 4 and 12 digits.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text{"GPU"};
  for (std::size_t byte = 0; byte < sizeof(uuid.bytes); ++byte) {
    const bool begins_group = byte == 0 || byte == 4 || byte == 6 || byte == 8 || byte == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", static_cast<unsigned char>(uuid.bytes[byte]));
  }
  return text;
}

/// Formats a CUDA version: 12040 is 12.4.
std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

int device_count() noexcept {
  int count{};
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return count;
}

std::string device_problem() noexcept {
  int count{};
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count > 0 ? "" : cudaGetErrorString(cudaErrorNoDevice);
}

GpuFacts gpu_facts(const std::shared_ptr<const NvmlLibrary>& nvml) {
  cudaDeviceProp properties{};
  TBENCH_CUDA_CHECK(cudaGetDeviceProperties(&properties, current_device()));
  const NvmlDevice device = current_nvml_device(nvml);

  GpuFacts facts;
  facts.name = properties.name;
  facts.uuid = uuid_text(properties.uuid);
  facts.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
  facts.sm_count = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.ecc = device.ecc().value_or(properties.ECCEnabled != 0);
  facts.mig = device.mig();
  if (const auto limit = device.power_limit()) {
    facts.power_limit_w = limit->value;
  }
  if (const auto clock = device.max_sm_clock()) {
    facts.max_sm_clock_hz = clock->value;
  }
  facts.other_processes = device.other_compute_processes();
  return facts;
}

NvmlDevice current_nvml_device(const std::shared_ptr<const NvmlLibrary>& nvml) {
  if (nvml == nullptr || device_count() == 0) {
    return {};
  }
  const int device = current_device();
  std::array<char, 32> bus_id{};
  TBENCH_CUDA_CHECK(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device));
  NvmlDevice found = NvmlDevice::by_pci_bus_id(nvml, bus_id.data());
  if (found.is_known()) {
    return found;
  }
  cudaDeviceProp properties{};
  TBENCH_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return NvmlDevice::by_uuid(nvml, uuid_text(properties.uuid));
}

DeviceMemory device_memory() {
  std::size_t free{};
  std::size_t total{};
  TBENCH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {.free = static_cast<std::int64_t>(free), .total = static_cast<std::int64_t>(total)};
}

Seconds make_context() {
  const auto begin = std::chrono::steady_clock::now();
  TBENCH_CUDA_CHECK(cudaFree(nullptr));
  return {std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count()};
}

std::size_t persisting_l2_bytes() {
  std::size_t bytes{};
  const cudaError_t status = cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize);
  if (status == cudaErrorUnsupportedLimit) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  TBENCH_CUDA_CHECK(status);
  return bytes;
}

bool context_is_healthy() noexcept {
  // Synchronise again after clearing, so that an old, harmless error does not count.
  static_cast<void>(cudaDeviceSynchronize());
  static_cast<void>(cudaGetLastError());
  return cudaDeviceSynchronize() == cudaSuccess;
}

std::string cuda_runtime_version() {
  int version{};
  TBENCH_CUDA_CHECK(cudaRuntimeGetVersion(&version));
  return version_text(version);
}

std::optional<std::string> cuda_driver_version() {
  int version{};
  TBENCH_CUDA_CHECK(cudaDriverGetVersion(&version));
  if (version == 0) {
    return std::nullopt;
  }
  return version_text(version);
}

}  // namespace tbench::cuda
