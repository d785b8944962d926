#include "tbench/history/series.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::history {

// The following functions only write. json_fields.hpp finds them through the namespace of their arguments.
static void fields(results::FieldWriter& out, const SeriesPoint& point) {
  out.field("started", point.started);
  out.field("commit", point.commit);
  out.field("epoch", point.epoch);
  out.field("status", std::string{to_string(point.status)});
  out.field("time_s", point.time);
  out.field("device_time_s", point.device_time);
  out.field("relative_spread", point.dispersion);
  out.field("processes", static_cast<std::int64_t>(point.processes));
  out.field("allocated_peak_bytes", point.peak_bytes);
  out.field("is_valid", point.is_valid);
  out.field("has_regressed", point.has_regressed);
}

struct WrittenChange {
  std::int64_t index;
  double ratio;
};
static void fields(results::FieldWriter& out, const WrittenChange& change) {
  out.field("index", change.index);
  out.field("ratio", change.ratio);
}

static void fields(results::FieldWriter& out, const Series& series) {
  out.field("name", series.name);
  out.field("fingerprint", series.fingerprint);
  out.field("points", series.points);
  std::vector<WrittenChange> changes;
  for (const stats::ChangePoint& c : series.changes) {
    changes.push_back({static_cast<std::int64_t>(c.index), std::exp(c.magnitude)});
  }
  out.field("changes", changes);
}

namespace {

SeriesPoint point_of(const PastRun& run, const results::MeasuredCase& c) {
  SeriesPoint point;
  point.started = run.run.started;
  point.commit = run.run.environment.commit;
  point.epoch = run.run.epoch;
  point.status = compare::worst_of(c).status;
  if (const std::optional<double> value = compare::value_of(c)) point.time = Seconds{std::exp(*value)};
  if (const std::optional<double> value = compare::device_value_of(c)) point.device_time = Seconds{std::exp(*value)};
  const compare::SideOfCase side = compare::side_of_case(c);
  if (!side.dispersion_is_within) point.dispersion = side.dispersion;
  point.processes = c.replicates.size();
  point.peak_bytes = side.peak_bytes;
  point.is_valid = run.is_valid;
  point.has_regressed = run.regressed.contains(c.key);
  return point;
}

/// Adds the change points among the points of one epoch.
/// @param indexes  indexes of these points in the series
void find_changes(Series& series, const std::vector<std::size_t>& indexes) {
  std::vector<double> values;
  for (const std::size_t i : indexes) values.push_back(std::log(series.points[i].time->value));
  for (stats::ChangePoint change : stats::find_change_points(values, {})) {
    change.index = indexes[change.index];
    series.changes.push_back(change);
  }
}

void find_changes(Series& series) {
  std::vector<std::size_t> indexes;
  std::string epoch;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const SeriesPoint& point = series.points[i];
    if (point.epoch != epoch) {
      find_changes(series, indexes);
      indexes.clear();
      epoch = point.epoch;
    }
    if (point.time && point.is_valid) indexes.push_back(i);
  }
  find_changes(series, indexes);
}

}  // namespace

std::vector<Series> read_series(const History& history, const std::string& pattern, std::size_t max_runs) {
  const CaseFilter passes{pattern, "REGEX"};
  std::vector<Series> all;
  std::size_t known = 0;
  for (const std::string& fingerprint : history.fingerprints()) {
    std::map<std::string, std::size_t> index;  // index of this machine's series, by key
    for (const PastRun& run : history.past(fingerprint, {}, {}, max_runs)) {
      for (const results::MeasuredCase& c : run.run.cases) {
        ++known;
        if (!passes(c.id.name())) continue;
        const auto [found, is_new] = index.emplace(c.key, all.size());
        if (is_new) all.push_back({.name = c.id.name(), .fingerprint = fingerprint, .points = {}, .changes = {}});
        all[found->second].points.push_back(point_of(run, c));
      }
    }
  }
  if (all.empty()) {
    throw UsageError{known == 0 ? std::string{"the history is empty; fill it with 'tbench gate' or --import=FOLDER"}
                                : fmt::format("no case of the history matches '{}'", pattern)};
  }
  for (Series& series : all) find_changes(series);
  return all;
}

results::Json series_to_json(std::span<const Series> series, const std::string& db) {
  results::FieldWriter out{"history"};
  out.field("series", std::vector<Series>(series.begin(), series.end()));
  return results::concluded("history", series_conclusion(series, db), std::move(out).take());
}

}  // namespace tbench::history
