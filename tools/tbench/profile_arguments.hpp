// The common parts of the subcommands that show a profile: their options, and the page that these make.
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
  std::optional<std::int64_t> steps;  // else what the trace says
  std::size_t top{10};
  bool has_full_names{};
  std::vector<std::string> tables;
  bool markdown{};
  bool csv{};
  bool latex{};
  bool json{};
};

/// @param arguments  must outlive the parsing
void add_profile_options(CLI::App& command, ProfileArguments& arguments);

/// @throws  UsageError  for options that exclude each other
void check_profile_options(const ProfileArguments& arguments);

/// Analyses by the rules of `--rules`, or by the built-in ones.
/// @throws  UsageError  as KernelRules::read and profile::analyse
[[nodiscard]] profile::Profile analyse(const ProfileArguments& arguments, const profile::Trace& trace);

/// Returns the text for standard output.
/// @param title   what was read
/// @param source  the subcommand and the path that it was read from, for the command that follows
/// @throws        UsageError  as profile::profile_page
[[nodiscard]] std::string profile_page(const ProfileArguments& arguments, const profile::Profile& profile,
                                       const profile::TraceFacts& facts, const std::string& title,
                                       const std::vector<std::string>& source);

/// All times and counts are per step.
[[nodiscard]] html::ProfilePage profile_html_page(std::string title, const profile::Profile& profile,
                                                  const profile::TableOptions& options,
                                                  const std::optional<profile::MemoryTimeline>& memory);

}  // namespace tbench::tool
