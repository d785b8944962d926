#include "compare/input/our_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "compare/input/side_cases.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

std::map<std::string, std::size_t> planned_by(const results::ResultFile& header) {
  const auto option = header.options.find("processes");
  const std::int64_t processes = option == header.options.end() ? 1 : parse_integer(option->second).value_or(1);
  std::map<std::string, std::size_t> planned;
  for (const std::string& name : header.plan) {
    planned[results::match_key(results::case_of_name(name))] =
        static_cast<std::size_t>(std::max<std::int64_t>(processes, 1));
  }
  return planned;
}

/// The options that affect how a time is measured, by their names in a results file.
constexpr std::array kOfTheWay{"burst_min_time_s",
                               "burst_min_warmup_time_s",
                               "l2",
                               "min_time_s",
                               "min_warmup_time_s",
                               "repetitions",
                               "samples",
                               "trace",
                               "verify",
                               "warmup"};

std::string way_of(const std::map<std::string, std::string>& options) {
  std::vector<std::string> parts;
  for (const char* name : kOfTheWay) {
    const auto option = options.find(name);
    if (option != options.end()) parts.push_back(fmt::format("{} {}", name, option->second));
  }
  return join(parts, ", ");
}

/// Adds a warning if other processes were on the GPU when the run of `path` began or ended.
void warn_of_shared_gpu(ComparisonSide& side, const std::string& path, std::optional<std::int64_t> others,
                        const char* when) {
  if (others.value_or(0) == 0) return;
  side.shared_gpus.push_back(fmt::format("'{}': {} on the GPU when it {}", path,
                                         counted(*others, "other process was", "other processes were"), when));
  side.warnings.push_back(side.shared_gpus.back());
}

}  // namespace

ComparisonSide our_side(const std::string& path, const results::ResultFile& header,
                        std::vector<results::MeasuredCase> cases) {
  ComparisonSide side = side_of_cases(path, std::move(cases));
  side.environments = {header.environment};
  side.options = {header.options};
  side.run = results::run_flags(header);
  if (const auto plant = header.options.find("plant"); plant != header.options.end()) {
    side.planted = plant->second;
    side.warnings.push_back(fmt::format("'{}': a slowdown was planted: {}", path, side.planted));
  }
  side.other_processes_at_end = header.other_processes_at_end;
  if (header.environment.gpu) warn_of_shared_gpu(side, path, header.environment.gpu->other_processes, "began");
  warn_of_shared_gpu(side, path, header.other_processes_at_end, "ended");
  if (header.interrupted) side.warnings.push_back(fmt::format("'{}': the run was interrupted", path));
  side.was_interrupted = header.interrupted;
  side.planned = planned_by(header);
  side.way = way_of(header.options);
  if (const auto suite = header.options.find("suite"); suite != header.options.end()) side.suite = suite->second;
  join_repetitions(side, header.options, "--tb_processes=5, or a file each");
  return side;
}

}  // namespace tbench::compare
