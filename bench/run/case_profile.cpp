#include "bench/run/case_profile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/profile/memory_timeline.hpp"
#include "tbench/profile/profile_files.hpp"
#include "tbench/profile/step_summary.hpp"

namespace tbench::bench {

namespace fs = std::filesystem;

process::UniqueDescriptor take_profile_root(const std::string& root) {
  const auto refuse = [&](const std::string& problem) {
    throw UsageError{fmt::format("--tb_profile={}: {}; give a folder that can be written", root, problem)};
  };
  std::error_code error;
  fs::create_directories(root, error);
  if (error) refuse(fmt::format("cannot make it: {}", error.message()));
  if (!fs::is_directory(root, error)) refuse("it is not a folder");
  if (::access(root.c_str(), W_OK | X_OK) != 0) refuse(std::generic_category().message(errno));
  process::UniqueDescriptor folder{::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) refuse(std::generic_category().message(errno));
  // A file system without locks has none against another run.
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse("another run is writing there");
  return folder;
}

std::string profile_folder_name(const CaseId& id) {
  std::string name = id.name();
  std::ranges::replace(name, '/', '_');
  std::ranges::replace(name, ':', '=');
  return name;
}

CaseProfile::CaseProfile(const std::string& root, const CaseId& id, std::string gpu,
                         std::span<const std::string_view> phases)
    : folder_{(fs::path{root} / profile_folder_name(id)).string()},
      case_name_{id.name()},
      gpu_{std::move(gpu)},
      phases_{phases} {}

void CaseProfile::keep_memory(const AllocationLog& log, std::span<const LoggedStep> steps) {
  memory_ = log;
  memory_steps_.assign(steps.begin(), steps.end());
}

void CaseProfile::keep_timeline(const profile::Trace& trace) { layer_ = profile::layer_timeline(trace); }

void CaseProfile::keep_timeline(const AllocationLog& log, std::span<const LoggedStep> steps) {
  constexpr std::size_t kPoints = 300;  // about a quarter of a page's width in pixels
  memory_timeline_ = profile::memory_timeline(profile::memory_rows(log, steps, phases_), {.max_points = kPoints});
}

void CaseProfile::add_timelines(std::span<Record> records) const {
  for (Record& record : records) {
    if (record.trace) record.trace->timeline = layer_;
    if (record.memory) record.memory->timeline = memory_timeline_;
  }
}

void CaseProfile::write(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps) {
  problem_.reset();
  try {
    profile::write_profile_files(folder_, trace, {.name = case_name_, .steps = steps, .gpus = {gpu_}}, profile);
    if (!memory_steps_.empty()) profile::write_memory_files(folder_, memory_, memory_steps_, phases_);
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

}  // namespace tbench::bench
