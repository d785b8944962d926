#include "tbench/core/status.hpp"

#include <array>
#include <string_view>

namespace tbench {
namespace {

constexpr std::array<std::string_view, kAllStatuses.size()> kNames{"ok",       "oom",       "unsupported", "incorrect",
                                                                   "unstable", "throttled", "timeout",     "crashed"};

}  // namespace

std::string_view to_string(Status status) { return kNames.at(static_cast<std::size_t>(status)); }

std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : kAllStatuses) {
    if (to_string(status) == text) return status;
  }
  return std::nullopt;
}

bool has_time(Status status) {
  return status == Status::kOk || status == Status::kUnstable || status == Status::kThrottled;
}

bool is_failure(Status status) {
  return status == Status::kIncorrect || status == Status::kTimeout || status == Status::kCrashed;
}

}  // namespace tbench
