#include "tbench/capture/driver_calls.hpp"

#include <cupti.h>

#include <atomic>
#include <chrono>

#include "cupti_subscription.hpp"

namespace tbench::capture {
namespace {

struct ClassOfPrefix {
  std::string_view prefix;
  DriverCallClass call_class;
};

// Classes by prefix of the function's name (CUDA Driver API reference, 13.0); the first prefix that matches decides.
constexpr std::array kPrefixes{
    ClassOfPrefix{"cuLaunchHostFunc", DriverCallClass::kOther},
    ClassOfPrefix{"cuLaunch", DriverCallClass::kLaunch},
    ClassOfPrefix{"cuGraphLaunch", DriverCallClass::kLaunch},
    ClassOfPrefix{"cuModule", DriverCallClass::kLoading},
    ClassOfPrefix{"cuLibrary", DriverCallClass::kLoading},
    ClassOfPrefix{"cuKernel", DriverCallClass::kLoading},
    ClassOfPrefix{"cuFuncLoad", DriverCallClass::kLoading},
    ClassOfPrefix{"cuFuncGetModule", DriverCallClass::kLoading},
    ClassOfPrefix{"cuLink", DriverCallClass::kLoading},
    ClassOfPrefix{"cuMemAlloc", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemFree", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemHostAlloc", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemHostRegister", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemCreate", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemMap", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemUnmap", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemRelease", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemAddress", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemSetAccess", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuMemPool", DriverCallClass::kAllocation},
    ClassOfPrefix{"cuInit", DriverCallClass::kContext},
    ClassOfPrefix{"cuCtxCreate", DriverCallClass::kContext},
    ClassOfPrefix{"cuCtxDestroy", DriverCallClass::kContext},
    ClassOfPrefix{"cuDevicePrimaryCtxRetain", DriverCallClass::kContext},
    ClassOfPrefix{"cuDevicePrimaryCtxRelease", DriverCallClass::kContext},
    ClassOfPrefix{"cuDevicePrimaryCtxReset", DriverCallClass::kContext},
};

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count());
}

}  // namespace

DriverCallClass driver_call_class(std::string_view function) {
  for (const ClassOfPrefix& known : kPrefixes) {
    if (function.starts_with(known.prefix)) return known.call_class;
  }
  return DriverCallClass::kOther;
}

class DriverCalls::Impl {
 public:
  void enable(bool on) { subscription_.enable_all(on); }

  [[nodiscard]] DriverTimes times() const {
    DriverTimes times;
    for (std::size_t i = 0; i < kDriverCallClasses; ++i) {
      times.at(i) = {.time = {static_cast<double>(sums_.at(i).nanoseconds.load()) * 1e-9},
                     .calls = sums_.at(i).calls.load()};
    }
    return times;
  }

 private:
  struct Sum {
    std::atomic<std::uint64_t> nanoseconds{};
    std::atomic<std::int64_t> calls{};
  };

  /// Called on the calling thread, before and after the call.
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite == CUPTI_API_ENTER) {
      *call.correlationData = now_ns();
      return;
    }
    if (*call.correlationData == 0) return;  // the call began before start()
    Sum& sum = static_cast<Impl*>(self)->sums_.at(static_cast<std::size_t>(driver_call_class(call.functionName)));
    sum.nanoseconds += now_ns() - *call.correlationData;
    ++sum.calls;
  }

  std::array<Sum, kDriverCallClasses> sums_;
  CuptiSubscription subscription_{&Impl::on_call, this};
};

DriverCalls::DriverCalls() : impl_{std::make_unique<Impl>()} {}
DriverCalls::~DriverCalls() = default;
void DriverCalls::start() { impl_->enable(true); }
void DriverCalls::stop() { impl_->enable(false); }
DriverTimes DriverCalls::times() const { return impl_->times(); }

}  // namespace tbench::capture
