// How a case ended, and what that means for the exit status.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tbench {

enum class Status { kOk, kOom, kUnsupported, kIncorrect, kUnstable, kThrottled, kTimeout, kCrashed };

inline constexpr std::array kAllStatuses{Status::kOk,        Status::kOom,      Status::kUnsupported,
                                         Status::kIncorrect, Status::kUnstable, Status::kThrottled,
                                         Status::kTimeout,   Status::kCrashed};

[[nodiscard]] std::string_view to_string(Status status);
[[nodiscard]] std::optional<Status> parse_status(std::string_view text);

/// Whether a case of this status has a time: `ok`, and `unstable` and `throttled`, whose time is marked as such.
[[nodiscard]] bool has_time(Status status);
/// Whether a case of this status makes the whole run fail: `incorrect`, `timeout`, `crashed`.
[[nodiscard]] bool is_failure(Status status);

}  // namespace tbench
