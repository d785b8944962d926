// A subscription to CUPTI's callbacks, of which a process can have only one, and the check of CUPTI's results.
#pragma once

#include <cupti.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "tbench/capture/tracer.hpp"

namespace tbench::capture {

inline void check_cupti(CUptiResult result, std::string_view call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = "an unknown error";
  cuptiGetResultString(result, &text);
  throw std::runtime_error{fmt::format("{}: {}: is a profiler attached to this process? run without it", call, text)};
}

/// Calls `on_call(context, ...)` for the enabled calls of the driver API, on the calling thread, before and after each
/// call. Keeps other clients of CUPTI out while it exists. All members throw std::runtime_error if CUPTI fails.
class CuptiSubscription {
 public:
  /// Subscribes to CUPTI's callbacks.
  /// @throws  CuptiTaken  if another client uses CUPTI
  CuptiSubscription(CUpti_CallbackFunc on_call, void* context) {
    std::array<char, 2 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other{};
    CUpti_SubscriberParams parameters{.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                      .subscriberName = "transformer_bench",
                                      .oldSubscriberName = other.data(),
                                      .oldSubscriberSize = other.size()};
    const CUptiResult result = cuptiSubscribe_v2(&subscriber_, on_call, context, &parameters);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
      throw CuptiTaken{fmt::format("CUPTI serves one tool at a time, and {} has it: run without it",
                                   other.front() == '\0' ? "another one" : other.data())};
    }
    check_cupti(result, "cuptiSubscribe_v2");
  }
  /// Removes CUPTI from the process. Otherwise every later launch would cost the host a quarter more, 1.2 us with an
  /// H200.
  ~CuptiSubscription() {
    cuptiUnsubscribe(subscriber_);
    cuptiFinalize();
  }
  CuptiSubscription(const CuptiSubscription&) = delete;
  CuptiSubscription& operator=(const CuptiSubscription&) = delete;

  void enable_all(bool on) {
    check_cupti(cuptiEnableDomain(flag(on), subscriber_, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain");
  }
  void enable(CUpti_CallbackId call, bool on) {
    check_cupti(cuptiEnableCallback(flag(on), subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call), "cuptiEnableCallback");
  }

 private:
  static std::uint32_t flag(bool on) { return on ? 1 : 0; }

  CUpti_SubscriberHandle subscriber_{};
};

}  // namespace tbench::capture
