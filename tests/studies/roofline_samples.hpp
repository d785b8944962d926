// Makes the measured ceilings of a GPU, and finds the rows of a table by its caption.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel_study_samples.hpp"

namespace tbench::studies {

/// Returns the ceiling of a large matrix product: 50 TFLOP/s.
inline Record product_ceiling() {
  Record record = support::timed_record(CaseId::parse("Ceiling/what:gemm_fp32/regime:sustained"), Seconds{1 * kMs});
  record.work = Work{.flop = 50e9};
  return record;
}

inline Record copy_ceiling(double terabytes_per_second) {
  Record record = support::timed_record(CaseId::parse("Ceiling/what:copy/regime:burst"), Seconds{1 * kMs});
  record.work = Work{.bytes = static_cast<std::int64_t>(terabytes_per_second * 1e9)};
  return record;
}

/// Returns the rows of the table whose caption has this text that begin with `begin`, without it.
inline std::vector<std::string> rows_of(const StudyReport& report, const std::string& caption,
                                        const std::string& begin) {
  std::vector<std::string> found;
  for (const StudySection& section : report.sections) {
    if (section.caption.find(caption) == std::string::npos) continue;
    for (const std::string& row : rows(section)) {
      if (row.starts_with(begin)) found.push_back(row.substr(begin.size()));
    }
  }
  return found;
}

}  // namespace tbench::studies
