#include "tbench/core/record.hpp"

#include <array>
#include <string_view>

namespace tbench {
namespace {

constexpr std::array<std::string_view, 5> kStopReasons{"precise", "spread_settled", "time_limit", "sample_limit",
                                                       "fixed_count"};

}  // namespace

std::string_view to_string(StopReason reason) { return kStopReasons.at(static_cast<std::size_t>(reason)); }

std::optional<StopReason> parse_stop_reason(std::string_view text) {
  for (std::size_t i = 0; i < kStopReasons.size(); ++i) {
    if (kStopReasons.at(i) == text) return static_cast<StopReason>(i);
  }
  return std::nullopt;
}

}  // namespace tbench
