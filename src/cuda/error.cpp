#include "tbench/cuda/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "tbench/core/error.hpp"

namespace tbench::cuda {

namespace {

constexpr std::array kContextLosingErrors{
    cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,       cudaErrorAssert,
    cudaErrorHardwareStackError,  cudaErrorIllegalInstruction,  cudaErrorMisalignedAddress,
    cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,           cudaErrorLaunchFailure,
    cudaErrorECCUncorrectable,    cudaErrorNvlinkUncorrectable, cudaErrorContained,
    cudaErrorTensorMemoryLeak};

struct Hint {
  cudaError_t code;
  std::string_view text;
};

constexpr std::array kRemedies{
    Hint{cudaErrorNoDevice, "no GPU is visible: check CUDA_VISIBLE_DEVICES and the driver"},
    Hint{cudaErrorInsufficientDriver, "the driver is missing or older than this program's CUDA runtime: update it"},
    Hint{cudaErrorInitializationError, "the driver could not be initialised: check that it is loaded (nvidia-smi)"},
    Hint{cudaErrorDevicesUnavailable, "the GPU is held by another process or in exclusive mode: free it"},
    Hint{cudaErrorNoKernelImageForDevice,
         "this program was built for other GPUs: add this one's architecture to TBENCH_CUDA_ARCHITECTURES"},
    Hint{cudaErrorInvalidDeviceFunction,
         "this program was built for other GPUs: add this one's architecture to TBENCH_CUDA_ARCHITECTURES"},
    Hint{cudaErrorInvalidConfiguration, "a launch asked for a grid or block that this GPU does not have"},
    Hint{cudaErrorLaunchOutOfResources, "a kernel needs more registers or shared memory than this GPU has"},
};

std::string_view remedy(cudaError_t code) {
  const auto* const found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                         [code](const Hint& candidate) { return candidate.code == code; });
  if (found != kRemedies.end()) {
    return found->text;
  }
  return loses_context(code) ? "the CUDA context is lost: only a new process can use the GPU again; "
                               "compute-sanitizer names the kernel"
                             : "rerun with CUDA_LAUNCH_BLOCKING=1 to find the launch that failed";
}

std::string describe(std::string_view call, std::string_view place, cudaError_t code) {
  return fmt::format("{} failed at {}: {} ({}); {}", call, place, cudaGetErrorName(code), cudaGetErrorString(code),
                     remedy(code));
}

}  // namespace

CudaError::CudaError(std::string_view call, std::string_view place, cudaError_t code)
    : std::runtime_error{describe(call, place, code)}, code_{code} {}

bool CudaError::context_is_lost() const noexcept { return loses_context(code_); }

bool loses_context(cudaError_t code) noexcept {
  return std::find(kContextLosingErrors.begin(), kContextLosingErrors.end(), code) != kContextLosingErrors.end();
}

void check(cudaError_t code, std::string_view call, std::string_view place) {
  if (code == cudaSuccess) {
    return;
  }
  static_cast<void>(cudaGetLastError());
  if (code == cudaErrorMemoryAllocation) {
    throw OutOfMemory{fmt::format("{} failed at {}: the GPU has not enough free memory", call, place), std::nullopt};
  }
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
    throw Unsupported{describe(call, place, code)};
  }
  throw CudaError{call, place, code};
}

void log_failure(cudaError_t code) noexcept {
  static std::atomic<cudaError_t> last_logged{cudaSuccess};
  if (code != cudaSuccess && last_logged.exchange(code) != code) {
    std::fprintf(stderr, "releasing a CUDA handle failed: %s (%s)\n", cudaGetErrorName(code), cudaGetErrorString(code));
  }
}

}  // namespace tbench::cuda
