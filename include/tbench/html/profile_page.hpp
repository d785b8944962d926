// The page of a profile: charts of a step's time on the GPU and of its memory, and the profile's tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/allocation_log.hpp"
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

struct CaptionedTable {
  std::string caption;
  render::Table table;
};

struct ProfilePage {
  std::string title;
  std::vector<std::string> notes;
  std::vector<TimePart> times;           // if empty, there is no flame graph
  std::optional<MemoryTimeline> memory;  // has at least two points
  std::vector<CaptionedTable> tables;
};

/// Returns a page without scripts: a flame graph of the times, the memory over the step, and the tables. Leaves out a
/// chart without a value above 0.
[[nodiscard]] std::string profile_html(const ProfilePage& page);

}  // namespace tbench::html
