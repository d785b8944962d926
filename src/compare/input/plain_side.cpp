#include "compare/input/plain_side.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "compare/input/plain_context.hpp"
#include "compare/input/side_cases.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {
namespace {

/// Adds warnings about facts in the context that make the side's times less reliable.
void warn_of(ComparisonSide& side, const std::string& path, const PlainContext& context) {
  const auto says = [&](const char* key, const char* value) {
    const auto found = context.find(key);
    return found != context.end() && found->second == value;
  };
  if (says("library_build_type", "debug")) {
    side.warnings.push_back(fmt::format("'{}': the benchmark library is a debug build: times may be too long", path));
  }
  if (says("cpu_scaling_enabled", "on")) {
    side.warnings.push_back(fmt::format("'{}': the CPU scales its frequency: times may vary", path));
  }
}

}  // namespace

ComparisonSide plain_side(const std::string& path, const std::string& file, const results::Json& rest, PlainRows rows) {
  if (rows.empty()) {
    results::refuse_file(file, "no benchmark ran", "check --benchmark_filter, and measure again");
  }
  PlainCases found = std::move(rows).cases();
  if (found.cases.empty()) {
    results::refuse_file(file, "aggregates of repetitions alone, and no mean or median among them",
                         "measure again without --benchmark_report_aggregates_only");
  }
  ComparisonSide side = side_of_cases(path, std::move(found.cases));
  PlainContext context = plain_context(rest.at("context"));
  side.run = {.of_all = "", .filter = "", .program = program_of(context)};
  side.warnings.push_back(
      fmt::format("'{}': plain Google Benchmark JSON: clocks, memory, work and verification are unknown", path));
  for (const std::string& warning : found.warnings) side.warnings.push_back(fmt::format("'{}': {}", path, warning));
  if (const results::Json& others = rest.at("benchmarks"); !others.is_array() || !others.empty()) {
    side.warnings.push_back(fmt::format("'{}': skipped the entries of 'benchmarks' that are not objects", path));
  }
  warn_of(side, path, context);
  side.contexts = {std::move(context)};
  join_repetitions(side, {}, "a file each");
  return side;
}

}  // namespace tbench::compare
