// The page of a profile: charts of a step's time on the GPU and of its memory, and the profile's tables.
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
  std::size_t level{};                  // 0: a range, 1: a class in a range, 2: a kernel in a class
  std::optional<std::size_t> parent{};  // index of an earlier part
  double milliseconds{};                // per step, including the parts inside
  double operations{};                  // per step, including the parts inside
};

/// The bytes that a range holds at each point of a step.
struct MemoryPart {
  std::string name;
  std::vector<std::int64_t> bytes;
};

struct MemoryPlot {
  std::int64_t step{};              // number of the step
  std::vector<std::size_t> events;  // number of the allocator's event at each point
  std::vector<MemoryPart> parts;    // from the lowest to the highest in the plot
  /// The names of the phases, and the point at which each phase begins.
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
  std::optional<MemoryPlot> memory;  // has at least two points
  std::vector<CaptionedTable> tables;
};

/// Returns a page without scripts: a flame graph of the times, the memory over the step, and the tables. Leaves out a
/// chart without a value above 0.
[[nodiscard]] std::string profile_html(const ProfilePage& page);

}  // namespace tbench::html
