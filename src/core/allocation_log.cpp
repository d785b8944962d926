#include "tbench/core/allocation_log.hpp"

#include <algorithm>
#include <unordered_map>

namespace tbench {

std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count) {
  std::unordered_map<std::uint64_t, std::size_t> live;  // by address
  for (std::size_t i = 0; i < count; ++i) {
    const AllocationEvent& event = log.events[i];
    if (event.bytes < 0) live.erase(event.address);
    if (event.bytes >= 0) live[event.address] = i;
  }
  std::vector<std::size_t> indexes;
  for (const auto& [address, index] : live) indexes.push_back(index);
  std::ranges::sort(indexes);
  return indexes;
}

}  // namespace tbench
