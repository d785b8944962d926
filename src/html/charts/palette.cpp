#include "html/charts/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tbench::html {
namespace {

/// Separate ATen operations have the first slot in every family. The last slots are for operations between GPUs and for
/// strategies.
constexpr std::array<std::pair<std::string_view, std::size_t>, 30> kKnown{{
    {"eager", 0},
    {"naive", 0},
    {"aten", 0},
    {"flash", 1},
    {"sdpa", 2},
    {"sdpa_flash", 3},
    {"sdpa_efficient", 4},
    {"sdpa_cudnn", 5},
    {"compiled", 6},
    {"fused", 7},
    {"cublas", 8},
    {"cublaslt", 9},
    {"cublaslt_heuristic", 8},
    {"cublaslt_best", 9},
    {"sequential", 2},
    {"pairwise", 4},
    {"kahan", 6},
    {"cast_up", 3},
    {"all_reduce", 2},
    {"all_gather", 4},
    {"reduce_scatter", 6},
    {"broadcast", 7},
    {"all_to_all", 9},
    {"send_recv", 0},
    {"none", 7},
    {"flat", 4},
    {"bucketed", 5},
    {"overlapped", 1},
    {"reducer", 2},
    {"sharded_optimizer", 6},
}};

/// Returns a hash that is the same on every machine, unlike std::hash.
std::size_t hash_of(std::string_view name) {
  std::size_t hash = 0;
  for (const char letter : name) hash = (31 * hash + static_cast<unsigned char>(letter)) % 65521;
  return hash;
}

}  // namespace

const std::string* implementation_of(const CaseId& id) {
  const std::string* const impl = id.find("impl");
  return impl != nullptr ? impl : id.find("method");
}

std::string slot_colour(std::size_t slot) { return fmt::format("var(--slot-{})", slot); }

std::map<std::string, std::size_t> colour_slots(const std::set<std::string>& implementations) {
  std::map<std::string, std::size_t> slots;
  std::set<std::size_t> taken;
  for (const std::string& name : implementations) {
    const auto known = std::ranges::find(kKnown, name, [](const auto& entry) { return entry.first; });
    if (known != kKnown.end()) taken.insert(slots[name] = known->second);
  }
  for (const std::string& name : implementations) {
    if (slots.contains(name)) continue;
    std::size_t slot = hash_of(name) % kColourSlots;
    while (taken.contains(slot) && taken.size() < kColourSlots) slot = (slot + 1) % kColourSlots;
    taken.insert(slots[name] = slot);
  }
  return slots;
}

}  // namespace tbench::html
