// Turns CUDA's error codes into exceptions that say which call failed and what to do about it.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace tbench::cuda {

/// Thrown if a CUDA call failed. The message holds the call, its file and line, the error's name and text, and a
/// remedy.
class CudaError : public std::runtime_error {
 public:
  CudaError(std::string_view call, std::string_view place, cudaError_t code);

  [[nodiscard]] cudaError_t code() const noexcept { return code_; }
  /// Whether no further CUDA call of this process can succeed, so that only a new process helps.
  [[nodiscard]] bool context_is_lost() const noexcept;

 private:
  cudaError_t code_;
};

/// Whether this error ends the CUDA context (a kernel's bad address, a failed assertion, a hardware error).
[[nodiscard]] bool loses_context(cudaError_t code) noexcept;

/// Throws for every code but cudaSuccess. Clears CUDA's "last error" before it throws, so that the next launch check
/// does not report this error again.
/// @param call   text of the call
/// @param place  file and line of the call
/// @throws  OutOfMemory  for cudaErrorMemoryAllocation (the requested size is in `call`, its bytes are unknown);
///                       Unsupported if the program has no code for the GPU; CudaError for every other error
void check(cudaError_t code, std::string_view call, std::string_view place);

/// Writes a line to stderr for a failure, for use in destructors. Skips an error that repeats the previous one, because
/// a lost context fails every one of hundreds of handles. Never throws.
void log_failure(cudaError_t code) noexcept;

}  // namespace tbench::cuda

#define TBENCH_CUDA_STRINGIZE_(text) #text
#define TBENCH_CUDA_STRINGIZE(text) TBENCH_CUDA_STRINGIZE_(text)
/// Checks the result of a CUDA runtime call; after a launch: TBENCH_CUDA_CHECK(cudaGetLastError()).
#define TBENCH_CUDA_CHECK(call) ::tbench::cuda::check((call), #call, __FILE__ ":" TBENCH_CUDA_STRINGIZE(__LINE__))
