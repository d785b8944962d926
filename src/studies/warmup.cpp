// The first steps of a process, and how the warm-up changes the mean and the spread of a measurement.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::warmup {
namespace {

/// Returns the time of the first step of the process, which is a warm-up step or the first sample.
std::optional<double> first_step_ms(const Record& record) {
  if (!record.timing) return std::nullopt;
  if (record.timing->warm_up.first) return to_milliseconds(*record.timing->warm_up.first);
  if (record.timing->samples_s.empty()) return std::nullopt;
  return to_milliseconds(Seconds{record.timing->samples_s.front()});
}

/// Returns the case's first record with a time, its samples and its tokens; null if there is none.
const Record* timed(const StudyMeasurements& all, const CaseId& id) {
  for (const Record* const record : all.records_of(id)) {
    if (record->timing && record->timing->samples_s.size() > 1 && record->work && record->work->tokens > 0)
      return record;
  }
  return nullptr;
}

/// Returns the same case with the most warm-up steps that were measured; null if it is measured without warm-up alone.
const Record* warmest(const StudyMeasurements& all, const CaseId& cold) {
  const Record* found = nullptr;
  std::int64_t most = 0;
  for (const CaseId& id : all.cases) {
    const Record* const record = timed(all, id);
    if (record == nullptr || id.int_at("warmup") <= most || with_value(id, "warmup", "0") != cold) continue;
    found = record;
    most = id.int_at("warmup");
  }
  return found;
}

std::string sentence(const Record& cold, const Record& warm) {
  const std::vector<double>& samples = cold.timing->samples_s;
  double others = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) others += samples[i];
  others /= static_cast<double>(samples.size() - 1);
  const StudyColumn tokens = mean_tokens_column();
  const auto per_second = [&](const Record& record) { return tokens.format(tokens.value(record).value()); };
  const auto ms = [](double seconds) { return render::format_number(to_milliseconds(Seconds{seconds})); };
  return fmt::format(
      "{} of {} without warm-up: the first of {} steps takes {} ms, the others {} ms on average. The mean is {} ms "
      "(standard deviation {}), {} tokens/s; after {} warm-up steps it is {} ms ({}), {} tokens/s.",
      cold.id.at("pass"), cold.id.at("size"), samples.size(), ms(samples.front()), ms(others),
      ms(cold.timing->mean.value), ms(cold.timing->standard_deviation->value), per_second(cold), warm.id.at("warmup"),
      ms(warm.timing->mean.value), ms(warm.timing->standard_deviation->value), per_second(warm));
}

/// Returns a sentence for the first measured size in each pass: without warm-up, and with the longest warm-up.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::set<std::string> told;
  std::vector<std::string> found;
  for (const CaseId& id : all.cases) {
    if (id.at("warmup") != "0" || told.contains(id.at("pass"))) continue;
    const Record* const cold = timed(all, id);
    const Record* const warm = warmest(all, id);
    if (cold == nullptr || warm == nullptr) continue;
    told.insert(id.at("pass"));
    found.push_back(sentence(*cold, *warm));
  }
  return found;
}

/// The cost of a process's first steps in a measurement without warm-up. The counts of steps are part of the case, and
/// the family runs every case in a separate process.
Study warmup_study() {
  return {
      .name = "warmup",
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
      .tables = {{
          .caption = "Exactly `steps` timed steps after `warmup` others, none dropped, in a fresh process; tokens/s "
                     "of the mean",
          .spread = {},
          .columns = {number_column("mean ms", "mean_ms"),
                      number_column("std ms", "std_ms"),
                      mean_tokens_column(),
                      number_column("median ms", "median_ms"),
                      mebibytes_column("peak MiB", "peak_allocated_bytes"),
                      {.header = "first step ms", .value = first_step_ms, .format = &render::format_number},
                      number_column("context ms", "context_ms"),
                      number_column("first: loading ms", "first_loading_ms"),
                      number_column("allocation ms", "first_allocation_ms"),
                      number_column("launches ms", "first_launch_ms"),
                      number_column("other host ms", "first_host_ms")},
      }},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "warmup", .order = 20, .make = &warmup_study});

}  // namespace
}  // namespace tbench::studies::warmup
