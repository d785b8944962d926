// The common parts of the subcommands that show a profile: their options, and the page that they print.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/html/profile_page.hpp"
#include "tbench/profile/memory_timeline.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::tool {

struct ProfileArguments {
  std::string rules;
  profile::ProfileOptions profile;
  std::optional<std::int64_t> steps;  // if absent, the number in the trace
  std::size_t top{10};
  bool has_full_names{};
  std::vector<std::string> tables;
  bool markdown{};
  bool csv{};
  bool latex{};
  bool json{};
};

/// Declares the options.
/// @param arguments  must outlive the parsing
void add_profile_options(CLI::App& command, ProfileArguments& arguments);

/// Checks the combination of options.
/// @throws  UsageError  for options that exclude each other
void check_profile_options(const ProfileArguments& arguments);

/// Analyses a trace by the rules of `--rules`, or by the built-in rules.
/// @throws  UsageError  as KernelRules::read and profile::analyse
[[nodiscard]] profile::Profile analyse(const ProfileArguments& arguments, const profile::Trace& trace);

/// Returns the text for standard output.
/// @param title   name of the input
/// @param source  the subcommand and the path from which the profile was read, for the suggested next command
/// @throws        UsageError  as profile::profile_page
[[nodiscard]] std::string profile_page(const ProfileArguments& arguments, const profile::Profile& profile,
                                       const profile::TraceFacts& facts, const std::string& title,
                                       const std::vector<std::string>& source);

/// Returns the contents of an HTML page. All times and counts are per step.
[[nodiscard]] html::ProfilePage profile_html_page(std::string title, const profile::Profile& profile,
                                                  const profile::TableOptions& options,
                                                  const std::optional<MemoryTimeline>& memory);

}  // namespace tbench::tool
