#include "tbench/capture/kernel_launches.hpp"

#include <cupti.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "cupti_subscription.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::capture {
namespace {

/// The driver's calls that launch a kernel; every launch of the runtime ends in one of them.
constexpr std::array kLaunchCalls{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

constexpr const char* kUnnamed = "(unnamed)";

}  // namespace

class KernelLaunches::Impl {
 public:
  void enable(bool on) {
    for (const CUpti_CallbackId call : kLaunchCalls) subscription_.enable(call, on);
  }

  [[nodiscard]] std::vector<KernelLaunch> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(launches_, {});
  }

 private:
  /// Called on the launching thread, before and after the call.
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite != CUPTI_API_ENTER) return;
    static_cast<Impl*>(self)->add(call.symbolName != nullptr ? profile::kernel_name(call.symbolName) : kUnnamed);
  }

  void add(std::string name) {
    const std::lock_guard lock{mutex_};
    auto known = std::ranges::find(launches_, name, &KernelLaunch::name);
    if (known == launches_.end()) known = launches_.insert(known, {.name = std::move(name), .count = 0});
    ++known->count;
  }

  std::mutex mutex_;
  std::vector<KernelLaunch> launches_;
  CuptiSubscription subscription_{&Impl::on_call, this};
};

KernelLaunches::KernelLaunches() : impl_{std::make_unique<Impl>()} {}
KernelLaunches::~KernelLaunches() = default;
void KernelLaunches::start() { impl_->enable(true); }
void KernelLaunches::stop() { impl_->enable(false); }
std::vector<KernelLaunch> KernelLaunches::take() { return impl_->take(); }

}  // namespace tbench::capture
