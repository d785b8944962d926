// Makes a small study of two sizes, three contexts and two precisions, and records that fill it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

inline CaseId id_of(const std::string& size, const std::string& ctx, const std::string& precision) {
  return {"Model", {{"size", size}, {"ctx", ctx}, {"batch", "4"}, {"precision", precision}}};
}

inline const StudyColumn kMilliseconds{.header = "ms",
                                       .value = [](const Record& record) -> std::optional<double> {
                                         if (!record.timing) return std::nullopt;
                                         return to_milliseconds(record.timing->median);
                                       },
                                       .format = [](double value) { return std::to_string(static_cast<int>(value)); }};
inline const StudyColumn kSamples{.header = "n",
                                  .value = [](const Record& record) -> std::optional<double> {
                                    if (!record.timing) return std::nullopt;
                                    return static_cast<double>(record.timing->samples_s.size());
                                  },
                                  .format = [](double value) { return std::to_string(static_cast<int>(value)); }};

inline Study study_of(StudyTable table) {
  return {.name = "mine",
          .title = "A study",
          .grids = {{"Model",
                     {{"size", {"small", "large"}},
                      {"ctx", {"128", "256", "512"}},
                      {"batch", {"4"}},
                      {"precision", {"fp32", "bf16"}}}}},
          .protocol = {},
          .tables = {std::move(table)}};
}

inline StudyTable spread_over(std::vector<std::string> keys, std::vector<StudyColumn> columns = {kMilliseconds}) {
  return {.caption = "Caption", .spread = std::move(keys), .columns = std::move(columns), .speed_up = {}, .fit = {}};
}

inline results::NamedResults results_of(std::vector<Record> records) {
  return support::gpu_results(std::move(records));
}

inline Record timed(const std::string& size, const std::string& ctx, const std::string& precision, double ms) {
  return support::timed_record(id_of(size, ctx, precision), Seconds{ms * 1e-3});
}

/// The time is 8 ms at 128 tokens and proportional to the tokens. bf16 takes half as long, and large takes 3 times as
/// long.
inline std::vector<Record> all_records() {
  std::vector<Record> records;
  for (const auto& [size, factor] : {std::pair{"small", 1.0}, std::pair{"large", 3.0}}) {
    for (const auto& [ctx, ms] : {std::pair{"128", 8.0}, std::pair{"256", 16.0}, std::pair{"512", 32.0}}) {
      records.push_back(timed(size, ctx, "fp32", ms * factor));
      records.push_back(timed(size, ctx, "bf16", ms * factor / 2));
    }
  }
  return records;
}

inline std::vector<std::string> texts(const std::vector<StudyCell>& row) {
  std::vector<std::string> all;
  for (const StudyCell& cell : row) {
    all.push_back(cell.text + (cell.footnote > 0 ? "[" + std::to_string(cell.footnote) + "]" : ""));
  }
  return all;
}

inline std::vector<std::string> headers(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return all;
}

inline StudyReport report_of(const Study& study, const std::vector<results::NamedResults>& results,
                             const StudyOptions& options = {}) {
  return study_report(study, results, options);
}

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tbench::studies
