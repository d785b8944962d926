#include "studies/engine/studies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::studies {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

StudyColumn counter_column(std::string header, std::string counter, double factor,
                           std::function<std::string(double)> format) {
  return {.header = std::move(header),
          .value = [counter = std::move(counter), factor](const Record& record) -> std::optional<double> {
            const std::optional<double> value = counter_of(record, counter);
            return value ? std::optional{*value * factor} : std::nullopt;
          },
          .format = std::move(format)};
}

std::vector<Study> make_studies() {
  std::vector<Study> studies;
  for (const RegisteredStudy& entry : Registered<RegisteredStudy>::sorted()) studies.push_back(entry.make());
  return studies;
}

}  // namespace

std::span<const Study> all_studies() {
  static const std::vector<Study> studies = make_studies();
  return studies;
}

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const Study& study : all_studies()) names.push_back(study.name);
  return names;
}

const Study& find_study(std::string_view name, std::string_view flag) {
  const auto found = std::ranges::find(all_studies(), name, &Study::name);
  if (found != all_studies().end()) return *found;
  const std::vector<std::string> names = study_names();
  throw UsageError{with_suggestion(fmt::format("{}={}: no such study", flag, name), name, names, "studies")};
}

Study with_known_values(
    Study study, const std::function<bool(const std::string& family, const CaseId::Parameter& value)>& is_known) {
  for (const auto& [family, optional] : study.if_known) {
    for (const std::string& value : optional.values) {
      if (is_known(family, {optional.key, value})) continue;
      for (FamilyGrid& grid : study.grids) {
        const auto axis = std::ranges::find(grid.axes, optional.key, &Axis::key);
        if (grid.family == family && axis != grid.axes.end()) std::erase(axis->values, value);
      }
    }
  }
  return study;
}

Study with_open_axes(
    Study study,
    const std::function<std::vector<std::string>(const std::string& family, const std::string& key)>& values_of) {
  for (FamilyGrid& grid : study.grids) {
    for (Axis& axis : grid.axes) {
      if (axis.values.empty()) axis.values = values_of(grid.family, axis.key);
    }
  }
  return study;
}

Study for_device(Study study, bool has_gpu) {
  if (!has_gpu && !study.grids_on_cpu.empty()) study.grids = study.grids_on_cpu;
  return study;
}

Study with_plugins(Study study, const std::function<std::vector<std::string>(const std::string& family)>& plugins_of) {
  for (const std::string& family : study.open_to_plugins) {
    for (const std::string& name : plugins_of(family)) {
      for (FamilyGrid& grid : study.grids) {
        const auto axis = std::ranges::find(grid.axes, "impl", &Axis::key);
        if (grid.family == family && axis != grid.axes.end()) axis->values.push_back(name);
      }
    }
  }
  return study;
}

Study restricted(Study study, std::span<const AxisOverride> kept) {
  const auto lacks = [](const Axis& wanted, const std::string& value) {
    return std::ranges::find(wanted.values, value) == wanted.values.end();
  };
  for (const auto& [family, wanted] : kept) {
    std::erase_if(study.grids, [&](FamilyGrid& grid) {
      const auto axis = std::ranges::find(grid.axes, wanted.key, &Axis::key);
      if (grid.family != family || axis == grid.axes.end()) return false;
      std::erase_if(axis->values, [&](const std::string& value) { return lacks(wanted, value); });
      return axis->values.empty();
    });
  }
  if (study.grids.empty()) throw std::invalid_argument{"restricted: no case of the study " + study.name + " is left"};
  return study;
}

std::vector<FamilyGrid> grids_with_sizes(const Study& study, std::span<const ModelSize> extra_sizes) {
  std::vector<FamilyGrid> grids = study.grids;
  for (FamilyGrid& grid : grids) {
    const auto axis = std::ranges::find(grid.axes, "size", &Axis::key);
    if (axis == grid.axes.end()) continue;
    for (const ModelSize& size : extra_sizes) axis->values.push_back(size.name);
  }
  return grids;
}

std::optional<double> counter_of(const Record& record, const std::string& counter) {
  const std::map<std::string, double> counters = counters_of(record);
  const auto found = counters.find(counter);
  if (found == counters.end()) return std::nullopt;
  return found->second;
}

std::optional<double> median_of(std::span<const Record* const> records,
                                const std::function<std::optional<double>(const Record&)>& value) {
  std::vector<double> values;
  for (const Record* const record : records) {
    if (const std::optional<double> known = value(*record)) values.push_back(*known);
  }
  return values.empty() ? std::nullopt : std::optional{stats::median(values)};
}

std::optional<double> median_of(std::span<const Record* const> records, const std::string& counter) {
  return median_of(records, [&](const Record& record) { return counter_of(record, counter); });
}

double relative_half_width(std::span<const Record* const> records) {
  const auto width = median_of(records, [](const Record& record) -> std::optional<double> {
    return record.timing ? record.timing->relative_half_width : std::nullopt;
  });
  return width.value_or(0);
}

const CaseId& copy_case() {
  static const CaseId id{"Ceiling", {{"what", "copy"}, {"regime", "burst"}}};
  return id;
}

StudyColumn number_column(std::string header, std::string counter, double factor) {
  return counter_column(std::move(header), std::move(counter), factor, &render::format_number);
}

StudyColumn mean_tokens_column() {
  return {.header = "tokens/s",
          .value = [](const Record& record) -> std::optional<double> {
            if (!record.timing || !record.work || record.work->tokens == 0) return std::nullopt;
            return static_cast<double>(record.work->tokens) / record.timing->mean.value;
          },
          .format = &render::format_thousands};
}

StudyColumn step_time_column() {
  StudyColumn column = number_column("ms", "median_ms");
  column.device = [](const Record& record) { return counter_of(record, "device_ms"); };
  return column;
}

StudyColumn whole_column(std::string header, std::string counter, double factor) {
  return counter_column(std::move(header), std::move(counter), factor, &render::format_thousands);
}

StudyColumn mebibytes_column(std::string header, std::string counter) {
  return whole_column(std::move(header), std::move(counter), 1 / kMebi);
}

StudyColumn ratio_column(std::string header, std::string numerator, std::string denominator) {
  return {.header = std::move(header),
          .value = [numerator = std::move(numerator),
                    denominator = std::move(denominator)](const Record& record) -> std::optional<double> {
            const std::optional<double> above = counter_of(record, numerator);
            const std::optional<double> below = counter_of(record, denominator);
            return above && below && *below > 0 ? std::optional{*above / *below} : std::nullopt;
          },
          .format = &render::format_number};
}

StudyColumn of_pass(std::string pass, StudyColumn column) {
  column.only_of = {"pass", std::move(pass)};
  return column;
}

StudyColumn split_column(std::string header, std::vector<std::string> classes) {
  return {.header = std::move(header),
          .value = [classes = std::move(classes)](const Record& record) -> std::optional<double> {
            if (!record.memory) return std::nullopt;
            std::optional<double> sum;
            for (const auto& [memory_class, bytes] : record.memory->split) {
              if (std::ranges::find(classes, memory_class) == classes.end()) continue;
              sum = sum.value_or(0) + static_cast<double>(bytes) / kMebi;
            }
            return sum;
          },
          .format = &render::format_thousands};
}

StudyColumn finding_column(std::string header, std::string finding) {
  return {.header = std::move(header),
          .value = {},
          .format = {},
          .text = [finding = std::move(finding)](const Record& record) -> std::optional<std::string> {
            const auto found = record.labels.find(finding);
            if (found == record.labels.end()) return std::nullopt;
            return found->second;
          }};
}

FamilyGrid model_grid(std::vector<std::string> ctx, std::vector<std::string> pass, std::vector<std::string> precision) {
  return {.family = "Model",
          .axes = {{"size", course_size_names()},
                   {"ctx", std::move(ctx)},
                   {"batch", {"4"}},
                   {"pass", std::move(pass)},
                   {"precision", std::move(precision)},
                   {"impl", {"eager"}}}};
}

}  // namespace tbench::studies
