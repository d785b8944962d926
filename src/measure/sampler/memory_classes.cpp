#include "measure/sampler/memory_classes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace tbench::measure {
namespace {

constexpr std::string_view kOther = "other";

/// The position of an event in its step. All members but `phase` are numbers of events.
struct Place {
  std::size_t phase{};      // the last phase also covers events after its end
  std::size_t phase_end{};  // events before the end of that phase
  std::size_t last_phase_end{};
  std::size_t step_end{};
};

std::optional<Place> place_of(std::size_t event, std::size_t log_end, std::span<const LoggedStep> steps) {
  const auto after = std::ranges::upper_bound(steps, event, {}, &LoggedStep::begin);
  if (after == steps.begin()) return std::nullopt;
  const std::vector<std::size_t>& ends = std::prev(after)->phase_ends;
  if (ends.empty()) return std::nullopt;
  const auto end = std::ranges::upper_bound(ends, event);
  const auto phase = std::min(static_cast<std::size_t>(end - ends.begin()), ends.size() - 1);
  return Place{.phase = phase,
               .phase_end = ends[phase],
               .last_phase_end = ends.back(),
               .step_end = after == steps.end() ? log_end : after->begin};
}

bool is_cast(const AllocationLog& log, const AllocationEvent& event) {
  return event.operation < log.operations.size() && log.operations[event.operation] == "aten::_to_copy";
}

/// Returns the class of a block without a tensor of the case, from the block's lifetime.
std::string unclaimed_class(const AllocationLog& log, std::size_t made, std::size_t freed, const Place& place,
                            std::string_view phase) {
  if (freed >= place.step_end) return "workspaces";
  if (freed >= place.last_phase_end) return "results";
  const bool is_forward = phase == "forward";
  if (is_forward && is_cast(log, log.events[made])) return "casts";
  if (is_forward && freed >= place.phase_end) return "activations";
  return std::string{phase} + "_temporaries";
}

}  // namespace

MemoryClasses::MemoryClasses(const AllocationLog& log, std::span<const LoggedStep> steps,
                             std::span<const std::string_view> phases, std::span<const LiveTensors> marks)
    : is_told_{std::ranges::any_of(marks, [](const LiveTensors& mark) { return !mark.tensors.empty(); })} {
  if (!is_told_) return;
  find_blocks(log, marks);
  for (Block& block : blocks_) classify(block, log, steps, phases, marks);
}

/// Finds the lifetimes of the blocks, the bytes from before the log, and which of these were freed.
void MemoryClasses::find_blocks(const AllocationLog& log, std::span<const LiveTensors> marks) {
  std::unordered_map<std::uint64_t, const LiveTensor*> held;
  std::int64_t unknown = log.allocated_before;
  for (const LiveTensor& tensor : marks.front().tensors) {
    if (tensor.address != 0 && !held.try_emplace(tensor.address, &tensor).second) continue;
    before_[std::string{tensor.memory_class}] += tensor.bytes;
    unknown -= tensor.bytes;
  }
  before_[std::string{kOther}] += unknown;
  std::unordered_map<std::uint64_t, std::size_t> live;  // blocks by address
  for (std::size_t i = 0; i < log.events.size(); ++i) {
    const auto& [address, bytes, allocated, range, operation] = log.events[i];
    if (bytes > 0) {
      live[address] = blocks_.size();
      blocks_.push_back({.made = i, .freed = log.events.size(), .memory_class = {}, .bytes = bytes});
    } else if (const auto block = live.find(address); block != live.end()) {
      blocks_[block->second].freed = i;
      live.erase(block);
    } else if (const auto tensor = held.find(address); tensor != held.end()) {
      const std::int64_t asked = tensor->second->bytes;
      freed_.push_back({i, std::string{tensor->second->memory_class}, asked, -bytes - asked});
      held.erase(tensor);
    } else {
      freed_.push_back({i, std::string{kOther}, -bytes, 0});
    }
  }
}

void MemoryClasses::classify(Block& block, const AllocationLog& log, std::span<const LoggedStep> steps,
                             std::span<const std::string_view> phases, std::span<const LiveTensors> marks) const {
  const std::uint64_t address = log.events[block.made].address;
  for (auto mark = std::ranges::upper_bound(marks, block.made, {}, &LiveTensors::event);
       mark != marks.end() && mark->event <= block.freed; ++mark) {
    const auto tensor = std::ranges::find(mark->tensors, address, &LiveTensor::address);
    if (tensor == mark->tensors.end()) continue;
    block.memory_class = tensor->memory_class;
    block.unasked = block.bytes - tensor->bytes;
    block.bytes = tensor->bytes;
    return;
  }
  const std::optional<Place> place = place_of(block.made, log.events.size(), steps);
  block.memory_class =
      place ? unclaimed_class(log, block.made, block.freed, *place, phases[place->phase]) : std::string{kOther};
}

std::map<std::string, std::int64_t> MemoryClasses::behind(std::size_t events) const {
  if (!is_told_) return {};
  std::map<std::string, std::int64_t> bytes = before_;
  const std::string other{kOther};
  for (const Freed& freed : freed_) {
    if (freed.event >= events) break;
    bytes[freed.memory_class] -= freed.bytes;
    bytes[other] -= freed.unasked;
  }
  for (const Block& block : blocks_) {
    if (block.made >= events) break;
    if (block.freed < events) continue;
    bytes[block.memory_class] += block.bytes;
    bytes[other] += block.unasked;
  }
  return bytes;
}

}  // namespace tbench::measure
