// A benchmark case on LibTorch: translates the errors of its allocators, whatever is built, verified or launched.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "tbench/core/case.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// Base of every case of this layer. A subclass does the work; build(), verify(), verify_again() and launch() throw
/// OutOfMemory where LibTorch ran out of memory in it.
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

  /// Returns an object that do_build() made and keeps in an optional or a pointer.
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
  /// Launches like Case::launch: enqueues on the current stream, never synchronises.
  virtual void do_launch(PhaseMarker& marker) = 0;

  DeviceKind device_;
};

/// Asks CUDA's caching allocator to tell the bytes of an allocation that fails: its exception does not. Once a process,
/// after CUDA was initialised; further calls do nothing.
void observe_cuda_out_of_memory();

/// Runs `action`. The bytes told are the bytes of the block asked of the device, rounded up by the allocator.
/// @throws  OutOfMemory  where LibTorch's CUDA or CPU allocator ran out, also where another error came of that, as from
///                       a compiled package; everything else passes through
void with_out_of_memory_translated(const std::function<void()>& action);

}  // namespace tbench::model
