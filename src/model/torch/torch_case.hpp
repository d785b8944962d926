// Base class of benchmark cases on LibTorch: translates allocation errors of its builds, verifications and launches.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "tbench/core/case.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// Base of every case of this layer. build(), verify(), verify_again() and launch() call the subclass's do_ functions
/// and throw OutOfMemory if LibTorch runs out of memory there.
class TorchCase : public Case {
 public:
  TorchCase(const TorchCase&) = delete;
  TorchCase& operator=(const TorchCase&) = delete;

  void build() final;
  [[nodiscard]] Verification verify() final;
  [[nodiscard]] std::optional<Verification> verify_again() final;
  void launch(PhaseMarker& marker) final;

  [[nodiscard]] std::map<std::string, double> counters() override { return {}; }

 protected:
  explicit TorchCase(DeviceKind device) : device_{device} {}

  /// Returns the object in an optional or a pointer that do_build() has set.
  /// @throws  std::logic_error  if build() has not run
  template <class Made>
  [[nodiscard]] static auto& built(Made& made) {
    if (!made) throw std::logic_error{"a case's build() must come first"};
    return *made;
  }

 private:
  virtual void do_build() = 0;
  virtual Verification do_verify() = 0;
  virtual std::optional<Verification> do_verify_again() { return std::nullopt; }
  /// Launches one step, as Case::launch() does: enqueues on the current stream and never synchronises.
  virtual void do_launch(PhaseMarker& marker) = 0;

  DeviceKind device_;
};

/// Makes CUDA's caching allocator report the bytes of a failed allocation, which its exception lacks. Initialises CUDA.
/// Later calls in the process do nothing.
void observe_cuda_out_of_memory();

/// Runs `action` and translates failed allocations. The reported size is the rounded size of the block that the
/// allocator requested from the device.
/// @throws  OutOfMemory  if LibTorch's CUDA or CPU allocator ran out of memory, also if that caused a different error,
///                       as in a compiled package; all other exceptions pass through
void with_out_of_memory_translated(const std::function<void()>& action);

}  // namespace tbench::model
