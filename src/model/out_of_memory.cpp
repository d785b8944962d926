#include "tbench/model/out_of_memory.hpp"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kNothingFailed = -1;
/// Bytes of the last CUDA allocation that failed. Written by whichever thread allocates: the backward pass has its own.
std::atomic<std::int64_t> failed_bytes{kNothingFailed};

/// The CPU allocator throws a plain c10::Error: "DefaultCPUAllocator: ... you tried to allocate N bytes ...".
std::optional<std::int64_t> cpu_allocation_failed(std::string_view message) {
  constexpr std::string_view kAllocator = "DefaultCPUAllocator";
  constexpr std::string_view kTried = "you tried to allocate ";
  if (message.find(kAllocator) == std::string_view::npos) return std::nullopt;
  const std::size_t at = message.find(kTried);
  if (at == std::string_view::npos) return std::nullopt;
  return std::strtoll(std::string{message.substr(at + kTried.size())}.c_str(), nullptr, 10);
}

}  // namespace

void observe_cuda_out_of_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::globalContext().lazyInitDevice(at::kCUDA);
    c10::cuda::CUDACachingAllocator::attachOutOfMemoryObserver(
        [](std::int64_t, std::size_t requested, std::size_t, std::size_t) {
          failed_bytes = static_cast<std::int64_t>(requested);
        });
  });
}

void with_out_of_memory_translated(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::OutOfMemoryError& error) {
    const std::int64_t requested = failed_bytes.exchange(kNothingFailed);
    throw OutOfMemory{error.what_without_backtrace(),
                      requested == kNothingFailed ? std::nullopt : std::optional{requested}};
  } catch (const c10::Error& error) {
    const auto requested = cpu_allocation_failed(error.what_without_backtrace());
    if (!requested) throw;
    throw OutOfMemory{error.what_without_backtrace(), requested};
  }
}

}  // namespace tbench::model
