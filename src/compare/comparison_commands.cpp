#include "compare/comparison_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compare/input/plain_name.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

/// Returns the words of a shell loop from 1 to `count`, all with the same number of digits: `1 2 3`, `$(seq -w 12)`.
std::string numbers_to(std::int64_t count) {
  constexpr std::int64_t kSpelledOut = 9;
  if (count > kSpelledOut) return fmt::format("$(seq -w {})", count);
  std::string numbers;
  for (std::int64_t i = 1; i <= count; ++i) numbers += fmt::format("{}{}", i == 1 ? "" : " ", i);
  return numbers;
}

/// Returns the flag that selects the plain benchmarks with these names and any suffix of the library, preceded by a
/// blank. Returns an empty string for no names, and for more than results::kMaxNamed.
std::string plain_filter(std::span<const std::string> names) {
  if (names.empty() || names.size() > results::kMaxNamed) return "";
  std::set<std::string> benchmarks;
  for (const std::string& name : names) benchmarks.insert(escape_regex(plain_name(name).benchmark));
  const std::vector<std::string> parts(benchmarks.begin(), benchmarks.end());
  const std::string any = parts.size() == 1 ? parts.front() : fmt::format("({})", join(parts, "|"));
  return " --benchmark_filter=" + results::quoted(fmt::format("^{}(/|$)", any));
}

/// Returns the command of a program that writes plain Google Benchmark JSON, with its filter.
std::string plain_program(const results::RunFlags& run, std::span<const std::string> names) {
  const std::string program = run.program->empty() ? "./BENCHMARK" : results::command_line({&*run.program, 1});
  return program + plain_filter(names);
}

/// Returns the command of one measurement.
/// @param folder     folder of the side's build
/// @param is_shared  whether the programs of both sides have the same name
std::string measure(const results::RunFlags& run, const char* folder, std::span<const std::string> names,
                    const std::string& out, bool is_shared) {
  if (!run.program) {
    return fmt::format("{}/transformer_bench{} --benchmark_out={}", folder, results::flags_for(run, names), out);
  }
  const std::string program = plain_program(run, names);
  if (!is_shared) return fmt::format("{} --benchmark_out={}", program, out);
  return fmt::format("(cd {} && {} --benchmark_out=\"$OLDPWD/{}\")", folder, program, out);
}

}  // namespace

std::string measure_in_turns(const results::RunFlags& base, const results::RunFlags& next,
                             std::span<const std::string> names, std::int64_t replicates) {
  const std::string digits(fmt::format("{}", replicates).size(), '?');
  const bool is_shared = base.program == next.program;
  return fmt::format("for i in {}; do {}; {}; done; tbench diff base{}.json --to new{}.json", numbers_to(replicates),
                     measure(base, "BASE", names, "base$i.json", is_shared),
                     measure(next, "NEW", names, "new$i.json", is_shared), digits, digits);
}

results::RunFlags flags_of_base(const results::RunFlags& base, const results::RunFlags& next) {
  return base.program.has_value() == next.program.has_value()
             ? results::RunFlags{.of_all = base.of_all, .filter = base.filter, .program = next.program}
             : next;
}

std::string run_again(const results::RunFlags& next, std::span<const std::string> names) {
  return next.program ? plain_program(next, names) : results::isolate_command(kNewProgram, next, names);
}

std::int64_t replicates_to_decide(const Comparison& comparison) {
  std::int64_t enough = 0;
  for (const CaseComparison& c : comparison.cases) {
    if (c.outcome == Outcome::kUndecided) enough = std::max(enough, c.replicates_to_decide.value_or(0));
  }
  return enough;
}

std::string decide_what_is_open(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const CaseComparison& c : comparison.cases) {
    const bool is_open =
        c.outcome == Outcome::kUndecided || c.outcome == Outcome::kLikelySlower || c.outcome == Outcome::kLikelyFaster;
    if (is_open) names.push_back(c.id.name());
  }
  if (names.size() == comparison.cases.size()) names.clear();
  const std::int64_t enough = replicates_to_decide(comparison);
  const bool is_first = std::ranges::none_of(comparison.cases, is_tested);
  const std::int64_t usual = is_first ? static_cast<std::int64_t>(kMinReplicates) : kUsualReplicates;
  return measure_in_turns(comparison.base.run, comparison.next.run, names, std::max(usual, enough));
}

}  // namespace tbench::compare
