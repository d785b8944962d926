#include "studies/engine/study_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "studies/engine/measured_values.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {
namespace {

/// The changes to the study on a file's command line.
struct Changes {
  std::vector<AxisOverride> axes;
  std::vector<ModelSize> sizes;
};

/// Returns the options of the run that are recorded with the prefix, without the prefix.
std::vector<std::pair<std::string, std::string>> recorded(const results::ResultFile& file, const std::string& prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [name, value] : file.options) {
    if (name.starts_with(prefix)) found.emplace_back(name.substr(prefix.size()), value);
  }
  return found;
}

/// Returns whether the file's run measured the study, alone or with others.
bool made_by(const Study& study, const results::ResultFile& file) {
  const auto option = file.options.find("study");
  if (option == file.options.end()) return false;
  const std::vector<std::string> names = split(option->second, ',');
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == study.name || (!study.measured_by.empty() && name == study.measured_by);
  });
}

Changes changes_of(const results::NamedResults& result) {
  Changes changes;
  try {
    for (const auto& [axis, values] : recorded(result.file, "axis.")) {
      changes.axes.push_back(parse_axis_override(axis + "=" + values));
    }
    for (const auto& [name, extents] : recorded(result.file, "size.")) {
      changes.sizes.push_back(parse_model_size(name + ":" + extents));
    }
  } catch (const UsageError& error) {
    throw UsageError{fmt::format("'{}': its options are not those of a run: {}", result.label, error.what())};
  }
  return changes;
}

void append_new(std::vector<CaseId>& cases, std::set<std::string>& names, std::vector<CaseId> more) {
  for (CaseId& id : more) {
    if (names.insert(id.name()).second) cases.push_back(std::move(id));
  }
}

std::string device_of(const results::ResultFile& file) {
  if (!file.environment.gpu) return file.environment.cpu_name;
  const auto limit = file.options.find("memory_limit");
  return file.environment.gpu->name + (limit == file.options.end() ? "" : fmt::format(" with {} GiB", limit->second));
}

void check_one_device(std::span<const results::NamedResults> results) {
  for (const results::NamedResults& result : results) {
    if (device_of(result.file) == device_of(results.front().file)) continue;
    throw UsageError{
        fmt::format("--study: '{}' is of {} and '{}' of {}; make a table of each, or compare them with "
                    "'tbench diff'",
                    results.front().label, device_of(results.front().file), result.label, device_of(result.file))};
  }
}

std::string flags_of(const Study& study, const Changes& changes, const std::vector<std::string>& plugins) {
  std::string flags = "--tb_study=" + (study.measured_by.empty() ? study.name : study.measured_by);
  for (const std::string& plugin : plugins) flags += " --tb_plugin=" + results::command_line({{plugin}});
  if (study.protocol.needs_trace) flags += " --tb_trace=on";
  for (const AxisOverride& change : changes.axes) {
    flags += fmt::format(" --tb_axis={}.{}={}", change.family, change.axis.key, join(change.axis.values, ","));
  }
  for (const ModelSize& size : changes.sizes) {
    flags += fmt::format(" --tb_size={}:{}", size.name, extents_text(size));
  }
  return flags;
}

template <class T, class Key>
void add_missing(std::vector<T>& all, const std::vector<T>& more, Key key) {
  for (const T& one : more) {
    if (std::ranges::find(all, std::invoke(key, one), key) == all.end()) all.push_back(one);
  }
}

/// Returns the study's own values of the changed axis.
std::vector<std::string> own_values(const Study& study, const AxisOverride& change) {
  std::vector<std::string> values;
  for (const FamilyGrid& grid : study.grids) {
    const auto axis = std::ranges::find(grid.axes, change.axis.key, &Axis::key);
    if (grid.family == change.family && axis != grid.axes.end()) add_missing(values, axis->values, std::identity{});
  }
  return values;
}

const AxisOverride* find_change(const std::vector<AxisOverride>& axes, const AxisOverride& wanted) {
  const auto found = std::ranges::find_if(axes, [&](const AxisOverride& other) {
    return other.family == wanted.family && other.axis.key == wanted.axis.key;
  });
  return found == axes.end() ? nullptr : &*found;
}

/// Returns the combined axes and sizes of all runs of this study. A run that did not change an axis contributes the
/// study's own values.
Changes changes_of_all(const Study& study, std::span<const results::NamedResults> results) {
  std::vector<Changes> runs;
  Changes all;
  for (const results::NamedResults& result : results) {
    if (!made_by(study, result.file)) continue;
    runs.push_back(changes_of(result));
    add_missing(all.sizes, runs.back().sizes, &ModelSize::name);
    for (const AxisOverride& change : runs.back().axes) {
      if (find_change(all.axes, change) == nullptr) all.axes.push_back({change.family, {change.axis.key, {}}});
    }
  }
  for (AxisOverride& change : all.axes) {
    for (const Changes& run : runs) {
      const AxisOverride* const own = find_change(run.axes, change);
      add_missing(change.axis.values, own != nullptr ? own->axis.values : own_values(study, change), std::identity{});
    }
  }
  return all;
}

bool has_gpu(std::span<const results::NamedResults> results) {
  return results.empty() || results.front().file.environment.gpu.has_value();
}

void check_axes(const Study& study, const std::vector<AxisOverride>& axes) {
  for (const AxisOverride& change : axes) {
    if (!own_values(study, change).empty()) continue;
    std::vector<std::string> known;
    for (const FamilyGrid& grid : study.grids) {
      for (const Axis& axis : grid.axes) known.push_back(grid.family + "." + axis.key);
    }
    const std::string name = change.family + "." + change.axis.key;
    throw UsageError{with_suggestion(fmt::format("--axis={}: the study {} has no such axis", name, study.name), name,
                                     known, "axes")};
  }
}

void find_records(StudyCells& cells, const Study& study, std::span<const results::NamedResults> results) {
  for (const CaseId& id : cells.unfiltered) cells.measured[id.name()];
  std::set<std::string> untraced;
  std::set<std::string> need_no_trace;  // the cases of Study::beside, from which it takes only numbers
  for (const CaseId& id : study.beside) {
    if (cells.measured.try_emplace(id.name()).second) need_no_trace.insert(id.name());
  }
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      const auto found = cells.measured.find(record.id.name());
      if (found == cells.measured.end()) continue;
      if (study.protocol.needs_trace && record.timing && !record.trace && !need_no_trace.contains(found->first)) {
        untraced.insert(found->first);
      } else {
        found->second.push_back(&record);
        cells.gpus.emplace(&record, gpu_uuid(result.file.environment, record.machine));
      }
    }
  }
  for (const CaseId& id : cells.cases) {
    if (!cells.measured.at(id.name()).empty()) continue;
    cells.missing.push_back(id);
    cells.untraced += untraced.count(id.name());
  }
}

}  // namespace

StudyCells study_cells(const Study& whole, std::span<const results::NamedResults> results,
                       const StudyOptions& options) {
  check_one_device(results);
  const Study known = with_known_values(
      for_device(whole, has_gpu(results)),
      [&](const std::string& family, const CaseId::Parameter& value) { return is_measured(results, family, value); });
  const Study joined = with_plugins(known, [&](const std::string& family) { return plugin_names(results, family); });
  const Study study = with_open_axes(joined, [&](const std::string& family, const std::string& key) {
    return open_values(results, joined, family, key);
  });
  check_axes(study, options.axes);
  Changes all = changes_of_all(study, results);
  if (!options.axes.empty()) all.axes = options.axes;

  StudyCells cells;
  cells.sizes.assign(builtin_model_sizes().begin(), builtin_model_sizes().end());
  cells.sizes.insert(cells.sizes.end(), all.sizes.begin(), all.sizes.end());
  cells.flags = flags_of(study, all, plugin_files(results, study));
  std::set<std::string> names;
  append_new(cells.unfiltered, names, cells_of(grids_with_sizes(study, all.sizes), all.axes));
  cells.cases = cells.unfiltered;
  if (!options.filter.empty()) {
    const CaseFilter passes{options.filter, "--filter"};
    std::erase_if(cells.cases, [&](const CaseId& id) { return !passes(id.name()); });
  }
  find_records(cells, study, results);
  return cells;
}

}  // namespace tbench::studies
