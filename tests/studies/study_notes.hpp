// Makes the report of a study about all its cases, and the sentences of this report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

inline constexpr double kMs = 1e-3;

/// Returns the report of a study about the records of one GPU.
inline StudyReport report_on(const std::string& study, std::vector<Record> records) {
  const std::vector files{support::gpu_results(std::move(records))};
  return study_report(find_study(study, "--study"), files, {});
}

inline std::vector<std::string> notes_of(const std::string& study, std::vector<Record> records) {
  return report_on(study, std::move(records)).notes;
}

}  // namespace tbench::studies
