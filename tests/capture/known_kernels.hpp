// Kernels of known names, which do nothing, launched in each way that CUDA has.
#pragma once

#include <cuda_runtime_api.h>

namespace tbench::capture {

inline constexpr const char* kKnownKernel = "tbench::capture::(anonymous namespace)::known_kernel";
inline constexpr const char* kOtherKernel = "tbench::capture::other_kernel";

[[nodiscard]] cudaError_t launch_known_float();
/// Another instantiation of the same template.
[[nodiscard]] cudaError_t launch_known_int();
[[nodiscard]] cudaError_t launch_other();
/// The other kernel with launch attributes, and as a cooperative one.
[[nodiscard]] cudaError_t launch_other_extended();
[[nodiscard]] cudaError_t launch_other_cooperatively();

}  // namespace tbench::capture
