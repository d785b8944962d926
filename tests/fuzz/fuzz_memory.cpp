// Feeds any bytes as memory.csv. The file is read and its timeline adds up, or it is refused with a message of one
// line.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/profile/memory_timeline.hpp"

namespace {

/// Aborts if a band lacks a point or is below 0, or if points or phases are out of order.
void check(const tbench::MemoryTimeline& timeline) {
  const std::size_t points = timeline.events.size();
  if (points == 0 || !std::ranges::is_sorted(timeline.events) || timeline.peak >= points) std::abort();
  for (const auto& band : timeline.bands) {
    if (band.bytes.size() != points || std::ranges::min(band.bytes) < 0) std::abort();
  }
  std::size_t last = 0;
  for (const auto& phase : timeline.phases) {
    if (phase.point < last || phase.point >= points) std::abort();
    last = phase.point;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbench::profile;
  try {
    const std::vector<MemoryRow> rows = read_memory_csv({reinterpret_cast<const char*>(data), size}, "memory.csv");
    for (const std::size_t points : {std::size_t{1}, std::size_t{7}, std::size_t{600}}) {
      const std::optional<tbench::MemoryTimeline> timeline =
          memory_timeline(rows, {.max_points = points, .max_bands = 3});
      if (timeline) check(*timeline);
    }
  } catch (const tbench::UsageError& error) {
    const std::string_view message{error.what()};
    if (message.empty() || message.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
