#include "profile_html.hpp"

#include <fmt/format.h>

#include <utility>

#include "tbench/profile/flame_graph.hpp"

namespace tbench::tool {
namespace {

constexpr double kNsPerMs = 1e6;

html::TimePart part_of(const profile::FlameFrame& frame, double steps) {
  const auto level = [&]() -> std::size_t {
    switch (frame.kind) {
      case profile::FlameKind::kRange:
        return 0;
      case profile::FlameKind::kClass:
        return 1;
      case profile::FlameKind::kKernel:
        return 2;
    }
    return 0;
  };
  return {.name = frame.name,
          .level = level(),
          .parent = frame.parent,
          .milliseconds = static_cast<double>(frame.total_ns) / kNsPerMs / steps,
          .operations = static_cast<double>(frame.operations) / steps};
}

html::MemoryPlot plot_of(const profile::MemoryTimeline& timeline) {
  html::MemoryPlot plot{.step = timeline.step, .events = timeline.events, .parts = {}, .phases = {}};
  for (const profile::MemoryBand& band : timeline.bands)
    plot.parts.push_back({.name = band.range, .bytes = band.bytes});
  for (const profile::MemoryPhase& phase : timeline.phases) plot.phases.emplace_back(phase.name, phase.point);
  return plot;
}

}  // namespace

html::ProfilePage profile_html_page(std::string title, const profile::Profile& profile,
                                    const profile::TableOptions& options,
                                    const std::optional<profile::MemoryTimeline>& memory) {
  html::ProfilePage page{.title = std::move(title), .notes = {}, .times = {}, .memory = {}, .tables = {}};
  if (options.steps > 1) page.notes.push_back(fmt::format("{} steps: counts and totals are per step", options.steps));
  for (std::string& note : profile::profile_notes(profile)) page.notes.push_back(std::move(note));
  for (const profile::FlameFrame& frame : profile::flame_frames(profile))
    page.times.push_back(part_of(frame, static_cast<double>(options.steps)));
  if (memory && memory->events.size() > 1) page.memory = plot_of(*memory);
  for (profile::ProfileTable& table : profile::profile_tables(profile, options))
    page.tables.push_back({.caption = std::move(table.caption), .table = std::move(table.table)});
  return page;
}

}  // namespace tbench::tool
