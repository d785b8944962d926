#include "bench/cli/option_rules.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/option_checks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/model/plugins.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {
namespace {

/// Refuses options that do not work with plug-ins: the check of a plug-in's launches needs both verifications, and its
/// work between two launches replaces the contents of the cache.
void check_with_plugins(const Options& options) {
  const auto refuse = [](const char* flag, const char* why) {
    throw UsageError{fmt::format("{}: not together with --tb_plugin: {}; leave one out", flag, why)};
  };
  if (!options.verify_again.value_or(true))
    refuse("--tb_verify=once", "a plug-in is verified before and after it is timed");
  if (options.l2 == L2State::kWarm)
    refuse("--tb_l2=warm", "what checks a plug-in's launches goes through the L2 cache");
}

/// Whether both paths lead to one file that exists.
bool are_one_file(const std::string& a, const std::string& b) {
  struct stat of_a {};
  struct stat of_b {};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

/// Refuses an output that would replace an input.
void check_outputs(const Options& options) {
  std::vector<std::string> inputs{options.durations};
  for (const std::string& plugin : options.plugins) inputs.push_back(model::file_of_plugin(plugin));
  const auto check = [&](const char* flag, const std::string& output) {
    for (const std::string& input : inputs) {
      if (!are_one_file(input, output)) continue;
      throw UsageError{fmt::format("{}={}: that file is an input of this run: give another name", flag, output)};
    }
  };
  check("--benchmark_out", options.out);
  check("--tb_page", options.page);
  if (const std::string why = wrong_results_name(options.out); !why.empty()) {
    throw UsageError{fmt::format("--benchmark_out: {}", why)};
  }
}

void check_together(const Options& options) {
  if (options.resume && options.out.empty()) {
    throw UsageError{"--tb_resume: needs --benchmark_out=FILE, the run to resume"};
  }
  if (!options.profile.empty() && options.processes > 1) {
    throw UsageError{
        fmt::format("--tb_profile={}: not together with --tb_processes={}: a profile is of one process; "
                    "leave one out",
                    options.profile, options.processes)};
  }
  if (!options.plugins.empty()) check_with_plugins(options);
  check_outputs(options);
  if (options.stop_after && options.stop_after->value <= 0) {
    throw UsageError{"--tb_stop_after=0: leaves no time for a case. Give a number of seconds above 0."};
  }
  if (options.out == "-") {
    throw UsageError{"--benchmark_out=-: standard output is not a file; use --benchmark_format=json"};
  }
  if (options.timeout.value <= 0) throw UsageError{"--tb_timeout: must be more than 0 seconds"};
  if (options.processes == 1) return;
  const auto refuse_with = [&](const char* other, const char* why) {
    throw UsageError{fmt::format("--tb_processes={}: not together with {}: {}", options.processes, other, why)};
  };
  if (options.repetitions > 1) refuse_with("--benchmark_repetitions", "a replicate is a process; leave one out");
  if (options.isolation == Isolation::kNone) refuse_with("--tb_isolate=none", "that is one process; leave one out");
}

/// Checks the studies, and asks for the traces that one of them needs.
void apply_studies(Options& options) {
  if (options.study.empty()) return;
  if (options.suite) {
    throw UsageError{fmt::format(
        "--tb_study={}: not together with --tb_suite: a study has its own cases; leave one out", options.study)};
  }
  const studies::Writeup writeup = studies::find_writeup(options.study, "--tb_study");
  options.study = writeup.name;
  for (const studies::Study& study : writeup.studies()) {
    if (study.protocol.needs_trace) options.trace = true;
  }
}

/// Names the results file after the page of --tb_page if the user gave none, because a page is made from it.
void give_page_results(Options& options) {
  constexpr std::string_view kEnding = ".html";
  if (options.page.empty() || !options.out.empty()) return;
  options.out = options.page.substr(0, options.page.size() - kEnding.size()) + ".json.gz";
}

}  // namespace

void apply_rules(Options& options) {
  apply_studies(options);
  give_page_results(options);
  if (!options.profile.empty()) options.trace = true;
  check_together(options);
}

}  // namespace tbench::bench
