#include "model/torch/torch_case.hpp"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kNothingFailed = -1;
/// Bytes of the last CUDA allocation that failed. Atomic, since every allocating thread writes it, and the backward
/// pass may have its own thread.
std::atomic<std::int64_t> failed_bytes{kNothingFailed};

std::optional<std::int64_t> cuda_allocation_failed() {
  const std::int64_t bytes = failed_bytes.exchange(kNothingFailed);
  return bytes == kNothingFailed ? std::nullopt : std::optional{bytes};
}

/// Parses the bytes of a failed CPU allocation from a message; nullopt for other errors. The CPU allocator throws a
/// plain c10::Error: "DefaultCPUAllocator: ... you tried to allocate N bytes ...".
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
  failed_bytes = kNothingFailed;  // an earlier failed allocation does not concern this action
  try {
    action();
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemory{error.what_without_backtrace(), cuda_allocation_failed()};
  } catch (const std::exception& error) {
    const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
    const std::string message = of_torch == nullptr ? error.what() : of_torch->what_without_backtrace();
    // A compiled package hides the allocator's error and only reports that a call failed.
    if (const auto requested = cuda_allocation_failed()) {
      throw OutOfMemory{fmt::format("the GPU had no {} bytes left, and then: {}", *requested, message), requested};
    }
    const auto requested = cpu_allocation_failed(message);
    if (!requested) throw;
    throw OutOfMemory{message, requested};
  }
}

void TorchCase::build() {
  if (device_ == DeviceKind::kCuda) observe_cuda_out_of_memory();
  with_out_of_memory_translated([this] { do_build(); });
}

Verification TorchCase::verify() {
  Verification result;
  with_out_of_memory_translated([&] { result = do_verify(); });
  return result;
}

std::optional<Verification> TorchCase::verify_again() {
  std::optional<Verification> result;
  with_out_of_memory_translated([&] { result = do_verify_again(); });
  return result;
}

void TorchCase::launch(PhaseMarker& marker) {
  with_out_of_memory_translated([&] { do_launch(marker); });
}

}  // namespace tbench::model
