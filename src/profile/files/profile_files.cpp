#include "tbench/profile/profile_files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "profile/files/folded_stacks.hpp"
#include "profile/tables/tables.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/shell_command.hpp"

namespace tbench::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOtherFiles{"kernels.csv", "ranges.csv", "api.csv", "folded.txt", "summary.json"};

[[noreturn]] void refuse(const std::string& problem) {
  throw UsageError{fmt::format("{}; give a folder that can be written", problem)};
}

bool is_profile(const std::string& folder) {
  try {
    static_cast<void>(read_trace_file(folder));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Files of these names that somebody else made stay.
void check_free(const fs::path& folder) {
  const auto check = [&](const char* name) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(folder / name, error))) return;
    throw UsageError{
        fmt::format("'{}' is there, and no earlier profile: it has no {} of this program; give another "
                    "folder, or move the file away",
                    (folder / name).string(), kTraceFileName)};
  };
  if (is_profile(folder.string())) return;
  check(kTraceFileName);
  for (const char* name : kOtherFiles) check(name);
}

void make(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
  if (!fs::is_directory(folder, error)) refuse(fmt::format("'{}' is no folder", folder.string()));
}

}  // namespace

void write_profile_files(const std::string& folder, const Trace& trace, const TraceFacts& facts,
                         const Profile& profile) {
  const TableOptions every_row{
      .steps = facts.steps, .top = std::numeric_limits<std::size_t>::max(), .has_full_names = true};
  const TableSource source{profile, every_row};
  const std::string packed = pack_trace(trace, facts);
  make(folder);
  check_free(folder);
  const auto write = [&](const char* name, std::string_view content) {
    try {
      results::write_atomically((fs::path{folder} / name).string(), content);
    } catch (const std::system_error& error) {
      refuse(error.what());
    }
  };
  write(kTraceFileName, packed);  // first: it makes the folder a profile's, even if the program ends here
  write("kernels.csv", kernels_table(source).csv());
  write("ranges.csv", ranges_table(source).csv());
  write("api.csv", calls_table(source).csv());
  write("folded.txt", folded_stacks(profile));
  const std::vector<std::string> words{"tbench", "profile", folder};
  write("summary.json", profile_json(profile, facts.steps, results::command_line(words)));
}

}  // namespace tbench::profile
