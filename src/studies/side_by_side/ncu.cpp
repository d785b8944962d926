// Compares the kernels of a traced step with their times in Nsight Compute.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/studies/side_by_side.hpp"

namespace tbench::studies {
namespace {

using render::Align;

constexpr std::size_t kShown = 10;

/// All launches of one kernel, in any phase.
struct Traced {
  double calls{};  // per step
  Seconds total;   // per step
};

const StepTrace& trace_of(const CaseId& id, std::span<const results::NamedResults> results) {
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      if (record.id == id && record.trace) return *record.trace;
    }
  }
  throw UsageError{fmt::format("--ncu: no trace of {} in the results; measure it with --tb_trace=on", id.name())};
}

std::map<std::string, Traced> by_name(const StepTrace& trace) {
  std::map<std::string, Traced> kernels;
  for (const TracedKernel& kernel : trace.kernels) {
    Traced& sum = kernels[profile::current_kernel_name(kernel.name)];
    sum.calls += kernel.calls;
    sum.total = sum.total + kernel.total;
  }
  return kernels;
}

struct Row {
  std::string name;
  Traced traced;
  double ncu_us{};  // microseconds per call
};

}  // namespace

render::Table ncu_table(const results::NcuTimes& ncu, std::span<const results::NamedResults> results) {
  const std::map<std::string, Traced> traced = by_name(trace_of(ncu.id, results));
  std::vector<Row> rows;
  for (const results::NcuTimes::Kernel& kernel : ncu.kernels) {
    const std::string name = profile::current_kernel_name(profile::demangled_name(kernel.symbol));
    const auto found = traced.find(name);
    if (found == traced.end() || kernel.launches == 0) continue;
    rows.push_back({.name = profile::kernel_name(name),
                    .traced = found->second,
                    .ncu_us = kernel.total_us / static_cast<double>(kernel.launches)});
  }
  if (rows.empty()) {
    throw UsageError{fmt::format("--ncu: none of its {} kernels is in the trace of {}; give ncu's times of this case",
                                 ncu.kernels.size(), ncu.id.name())};
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const Row& row) { return row.traced.total.value; });
  rows.resize(std::min(rows.size(), kShown));
  render::Table table{{{"kernel"},
                       {"calls per step", Align::kRight},
                       {"traced, us", Align::kRight},
                       {"ncu, us", Align::kRight},
                       {"traced / ncu, %", Align::kRight}}};
  for (const Row& row : rows) {
    const double traced_us = row.traced.total.value * 1e6 / row.traced.calls;
    const double longer = (traced_us / row.ncu_us - 1) * 100;
    table.add_row_of({{.text = fmt::format("`{}`", row.name)},
                      render::number_cell(row.traced.calls, 0),
                      render::number_cell(traced_us, 2),
                      render::number_cell(row.ncu_us, 2),
                      {.text = fmt::format("{:+.1f}", longer), .value = longer}});
  }
  return table;
}

}  // namespace tbench::studies
