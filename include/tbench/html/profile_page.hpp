// The page of a profile: where a step's time on the GPU and its memory go, and the profile's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/render/table.hpp"

namespace tbench::html {

/// A part of a step's time on the GPU.
struct TimePart {
  std::string name;
  std::size_t level{};                  // 0: a range, 1: a class in it, 2: a kernel in that
  std::optional<std::size_t> parent{};  // index of an earlier part
  double milliseconds{};                // per step, including the parts inside
  double operations{};                  // likewise
};

/// The bytes that a range holds at each point of a step.
struct MemoryPart {
  std::string name;
  std::vector<std::int64_t> bytes;
};

struct MemoryPlot {
  std::int64_t step{};              // number of the step
  std::vector<std::size_t> events;  // number of the allocator's event, one per point
  std::vector<MemoryPart> parts;    // the lowest first
  /// Names of phases, and the point at which each begins.
  std::vector<std::pair<std::string, std::size_t>> phases;
};

struct CaptionedTable {
  std::string caption;
  render::Table table;
};

struct ProfilePage {
  std::string title;
  std::vector<std::string> notes;
  std::vector<TimePart> times;       // if empty, there is no flame graph
  std::optional<MemoryPlot> memory;  // with two points at least
  std::vector<CaptionedTable> tables;
};

/// A flame graph of the times, the memory over the step, the tables; without scripts. Charts without a value above
/// 0 are left out.
[[nodiscard]] std::string profile_html(const ProfilePage& page);

}  // namespace tbench::html
