// The table of known spreads for people.
#include <fmt/format.h>

#include "tbench/compare/spread_collector.hpp"
#include "tbench/render/table.hpp"

namespace tbench::compare {
namespace {

constexpr double kPercent = 100;

std::string_view described(SpreadClass of) {
  switch (of) {
    case SpreadClass::kKernel:
      return "kernel >= 100 us";
    case SpreadClass::kShortKernel:
      return "kernel 10 to 100 us";
    case SpreadClass::kGraph:
      return "graph, clock free";
    case SpreadClass::kPowerLimit:
      return "graph or step, power limit";
    case SpreadClass::kStep:
      return "step, not host-bound";
    case SpreadClass::kHostBoundStep:
      return "step, host-bound";
    case SpreadClass::kHostBoundDevice:
      return "its device time";
    case SpreadClass::kDevice:
      return "device time, other steps";
  }
  return "";
}

/// Returns the limit in % with the numbers of pairs and cells, `1.30 (620, 131)`, or with the source of a borrowed
/// limit.
std::string cell(const KnownSpreads& spreads, SpreadClass of, Apart apart) {
  const auto found = spreads.classes.find({of, apart});
  if (found == spreads.classes.end()) return "unknown";
  const KnownDispersion& spread = found->second;
  if (!spread.borrowed.empty()) return fmt::format("{:.2f} ({})", kPercent * spread.limit, spread.borrowed);
  return fmt::format("{:.2f} ({}, {})", kPercent * spread.limit, spread.pairs, spread.cells);
}

}  // namespace

std::string spreads_table(const KnownSpreads& spreads) {
  using enum render::Align;
  render::Table table{{{"95 % of pairs differ by less than, % (pairs, cells)", kLeft},
                       {"two processes", kLeft},
                       {"two machines", kLeft}}};
  for (const SpreadClass of : kAllOf<SpreadClass>) {
    table.add_row(
        {std::string{described(of)}, cell(spreads, of, Apart::kProcesses), cell(spreads, of, Apart::kMachines)});
  }
  return fmt::format("{}{} cases spread more than their class\n", table.text(), spreads.cases.size());
}

}  // namespace tbench::compare
