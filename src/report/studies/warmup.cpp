// What the first steps of a process cost a measurement that does not warm up. The counts of steps are part of the case:
// its family gives every case a process of its own.
#include "studies.hpp"
#include "tbench/report/number_format.hpp"

namespace tbench::report {
namespace {

/// The first step of the process, whether it warms up or counts.
std::optional<double> first_step_ms(const Record& record) {
  if (!record.timing) return std::nullopt;
  if (record.timing->warm_up.first) return to_milliseconds(*record.timing->warm_up.first);
  if (record.timing->samples_s.empty()) return std::nullopt;
  return to_milliseconds(Seconds{record.timing->samples_s.front()});
}

}  // namespace

Study warmup_study() {
  return {.name = "warmup",
          .title = "Mean and spread of the first steps of a process by warm-up steps",
          .grids = {{.family = "Warmup",
                     .axes = {{"size", course_size_names()},
                              {"ctx", {"512"}},
                              {"batch", {"4"}},
                              {"pass", {"forward", "forward_backward", "train_step"}},
                              {"precision", {"fp32"}},
                              {"impl", {"eager"}},
                              {"steps", {"10", "30"}},
                              {"warmup", {"0", "1", "2", "5", "10"}}}}},
          .protocol = {},
          .tables = {{.caption = "Exactly `steps` timed steps after `warmup` others, none dropped, in a fresh process",
                      .spread = {},
                      .columns = {number_column("mean ms", "mean_ms"),
                                  number_column("std ms", "std_ms"),
                                  number_column("median ms", "median_ms"),
                                  {.header = "first step ms", .value = first_step_ms, .format = &format_number},
                                  number_column("context ms", "context_ms"),
                                  number_column("first: loading ms", "first_loading_ms"),
                                  number_column("allocation ms", "first_allocation_ms"),
                                  number_column("launches ms", "first_launch_ms"),
                                  number_column("other host ms", "first_host_ms")},
                      .speed_up = {},
                      .fit = {}}}};
}

}  // namespace tbench::report
