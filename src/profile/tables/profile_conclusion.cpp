// Draws a conclusion from a trace by applying rules to its profile.
#include <fmt/format.h>

#include <algorithm>

#include "profile/nsys/nsys_commands.hpp"
#include "profile/tables/tables.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::profile {
namespace {

/// The largest share of operations without a launching call in a complete trace. Such operations belong to no range and
/// no phase. Every capture lacks the calls of a few operations, because these calls began before the capture.
constexpr double kMaxWithoutLaunch = 0.02;

bool is_incomplete(const Profile& profile) {
  return profile.graph_replays > 0 || static_cast<double>(profile.operations_without_launch) >
                                          kMaxWithoutLaunch * static_cast<double>(profile.operations);
}

std::string sentence(const DeviceTime& device) {
  const double span = static_cast<double>(std::max<std::int64_t>(device.span_ns, 1));
  return fmt::format("device {} idles in {} % of {} ms, and waits for the host in {} %", device.device,
                     render::format_percent(device.idle_share(), 1), render::format_number(span * 1e-6),
                     render::format_percent(static_cast<double>(device.gaps.host_ns) / span, 1));
}

std::string longest_kernel(const Profile& profile) {
  const auto longest = std::ranges::max_element(profile.kernels, {},
                                                [](const KernelTime& kernel) { return kernel.durations.total_ns(); });
  if (longest == profile.kernels.end()) return "";
  return fmt::format("{} takes {} % of the time, the most of all kernels", kernel_name(longest->name),
                     render::format_percent(profile.share(longest->durations.total_ns()), 1));
}

}  // namespace

results::Conclusion profile_conclusion(const Profile& profile, const std::string& command) {
  if (profile.operations == 0) return {.outcome = "EMPTY", .why = {"the trace holds no operation of a GPU"}};
  results::Conclusion conclusion{.outcome = "DEVICE", .why = profile_notes(profile)};
  for (const DeviceTime& device : profile.devices) conclusion.why.push_back(sentence(device));
  if (const std::string kernel = longest_kernel(profile); !kernel.empty()) conclusion.why.push_back(kernel);
  if (is_incomplete(profile)) {
    conclusion.outcome = "INCOMPLETE";
    conclusion.next = kRecordAgain;
  } else if (profile.other_share() > kMaxOtherShare) {
    conclusion.outcome = "UNCLASSIFIED";
    conclusion.next = command + " --table=kernels --full-names --csv";
  } else if (std::ranges::any_of(profile.devices, &DeviceTime::host_bound)) {
    conclusion.outcome = "HOST";
    conclusion.next = command + " --table=launches";
  } else {
    conclusion.next = command + " --table=top_kernels";
  }
  return conclusion;
}

}  // namespace tbench::profile
