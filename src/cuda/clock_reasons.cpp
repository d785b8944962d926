// The reasons for which a GPU does not run at its highest clock, as NVML's bits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/cuda/nvml.hpp"

namespace tbench::cuda {
namespace {

struct Reason {
  std::uint64_t bit;  // nvmlClocksEventReason...
  std::string_view name;
  bool invalidates;
};
constexpr std::array kReasons{
    Reason{0x001, "gpu_idle", false},
    Reason{0x002, "applications_clocks_setting", false},
    Reason{0x004, "sw_power_cap", false},
    Reason{0x008, "hw_slowdown", false},
    Reason{0x010, "sync_boost", false},
    Reason{0x020, "sw_thermal_slowdown", true},
    Reason{0x040, "hw_thermal_slowdown", true},
    Reason{0x080, "hw_power_brake_slowdown", true},
    Reason{0x100, "display_clock_setting", false},
};

}  // namespace

std::vector<std::string> clock_event_reason_names(std::uint64_t mask) {
  std::vector<std::string> names;
  for (const Reason& reason : kReasons) {
    if ((mask & reason.bit) != 0) {
      names.emplace_back(reason.name);
      mask &= ~reason.bit;
    }
  }
  if (mask != 0) {
    names.push_back(fmt::format("unknown_{:#x}", mask));
  }
  return names;
}

bool makes_times_invalid(std::uint64_t clock_event_reasons) {
  return std::any_of(kReasons.begin(), kReasons.end(), [clock_event_reasons](const Reason& reason) {
    return reason.invalidates && (clock_event_reasons & reason.bit) != 0;
  });
}

}  // namespace tbench::cuda
