// Draws a conclusion from the series of cases, by rules over the changes of level in the newest epoch of each case.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/history/series.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::history {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMaxTold = 3;  // maximum number of cases; the JSON has them all

/// The last change of level of a case, if it lies in the newest epoch, so that only the program changed.
struct Shift {
  const Series* series;
  const stats::ChangePoint* change;
};

std::vector<Shift> shifts_of(std::span<const Series> all) {
  std::vector<Shift> shifts;
  for (const Series& series : all) {
    if (series.changes.empty()) continue;
    const stats::ChangePoint& last = series.changes.back();
    if (series.points[last.index].epoch == series.points.back().epoch) shifts.push_back({&series, &last});
  }
  std::ranges::stable_sort(shifts, std::ranges::greater{}, [](const Shift& shift) { return shift.change->magnitude; });
  return shifts;
}

/// Returns whether the series has enough points to show a change of level.
bool is_long_enough(const Series& series) {
  const auto counts = [&](const SeriesPoint& point) {
    return point.time && point.is_valid && point.epoch == series.points.back().epoch;
  };
  const auto runs = std::ranges::count_if(series.points, counts);
  return static_cast<std::size_t>(runs) >= 2 * stats::ChangePointOptions{}.min_segment;
}

const SeriesPoint& point_of(const Shift& shift) { return shift.series->points[shift.change->index]; }

/// Returns the last valid point before the change.
const SeriesPoint& point_before(const Shift& shift) {
  std::size_t index = shift.change->index - 1;
  while (index > 0 && (!shift.series->points[index].time || !shift.series->points[index].is_valid)) --index;
  return shift.series->points[index];
}

std::string sentence(const Shift& shift) {
  const SeriesPoint& point = point_of(shift);
  return fmt::format("{}: level {} % since {} (commit {}, {} before)", shift.series->name,
                     render::format_change(std::exp(shift.change->magnitude)), render::format_day(point.started),
                     render::format_commit(point.commit), render::format_commit(point_before(shift).commit));
}

/// Returns the commit for git, without the mark for a tree with uncommitted changes.
std::string clean(const std::string& commit) { return render::format_commit(commit.substr(0, commit.find('-'))); }

/// Returns the next command. For one case, it lists the commits that may have made the case slower or, if the commit is
/// the same, shows the ceilings of the machine. For several cases, it shows the case that slowed down most.
std::string next_of(const Shift& slowest, std::size_t count, const std::string& db) {
  const std::string before = clean(point_before(slowest).commit);
  const std::string after = clean(point_of(slowest).commit);
  Texts words{"tbench", "history", "--db=" + db, results::exact_filter(Texts{slowest.series->name})};
  if (count == 1 && before == after) words.back() = "^Ceiling/";
  if (count == 1 && before != after) words = {"git", "log", "--oneline", fmt::format("{}..{}", before, after)};
  return results::command_line(words);
}

}  // namespace

results::Conclusion series_conclusion(std::span<const Series> series, const std::string& db) {
  const std::vector<Shift> shifts = shifts_of(series);
  results::Conclusion conclusion;
  for (std::size_t i = 0; i < std::min(kMaxTold, shifts.size()); ++i) conclusion.why.push_back(sentence(shifts[i]));
  if (shifts.size() > kMaxTold) conclusion.why.push_back(fmt::format("and {} more", shifts.size() - kMaxTold));
  if (shifts.empty()) {
    const bool is_steady = std::ranges::any_of(series, is_long_enough);
    conclusion.outcome = is_steady ? "STEADY" : "NEW";
    conclusion.why.push_back(fmt::format(
        "{}: {}", counted_in(series, "case"),
        is_steady ? "no change of level with the present driver and libraries"
                  : fmt::format("fewer than {} valid runs with the present driver and libraries: too few to "
                                "see a change of level",
                                2 * stats::ChangePointOptions{}.min_segment)));
  } else if (shifts.front().change->magnitude > 0) {
    conclusion.outcome = "SLOWER";
    conclusion.next = next_of(shifts.front(), series.size(), db);
  } else {
    conclusion.outcome = "FASTER";
  }
  return conclusion;
}

}  // namespace tbench::history
