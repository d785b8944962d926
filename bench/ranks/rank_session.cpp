#include "bench/ranks/rank_session.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tbench/core/error.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {
namespace {

/// Until all ranks have started their first workers, which may load libraries from a network's file system.
constexpr Seconds kMeetingLimit{180.0};
/// For the hint, whatever the user will have.
constexpr int kSomeRanks = 2;

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

bool has_cases(const std::vector<Family>& families, const Options& options, bool has_gpu) {
  try {
    return !select_cases(specs_of(families), options, has_gpu).cases.empty();
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

std::optional<ranks::Launch> own_launch() { return ranks::find_launch(&environment_variable); }

std::unique_ptr<RankMeeting> make_meeting(const ranks::Launch& launch) {
  return std::make_unique<RankMeeting>(
      launch, [launch] { return ranks::open_store(launch, /*may_serve=*/true, kMeetingLimit); }, kMeetingLimit);
}

void check_with_ranks(const Options& options) {
  const auto refuse = [&](const std::string& flag, const char* why) {
    throw UsageError{fmt::format("{}: not with {} ranks ({}): {}; leave it out, or start one process by itself", flag,
                                 options.launch->size, to_string(options.launch->launcher), why)};
  };
  if (options.isolation == Isolation::kNone) refuse("--tb_isolate=none", "every rank supervises a worker");
  if (options.plant) refuse("--tb_plant", "each rank would delay its steps by its own time");
  if (!options.profile.empty()) refuse("--tb_profile=" + options.profile, "whole traces of ranks are not kept");
}

void show_own_gpu(const ranks::Launch& launch) {
  constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
  constexpr int kReplace = 1;
  ::setenv(kVisible, ranks::visible_gpu(environment_variable(kVisible), launch.local_rank).c_str(), kReplace);
}

Selection select_for_launch(const std::vector<Family>& families, const Options& options, bool has_gpu) {
  const int ranks = options.launch ? options.launch->size : 1;
  try {
    return select_cases(specs_of(ranks > 1 ? for_ranks(families, ranks) : families), options, has_gpu);
  } catch (const UsageError& error) {
    if (ranks > 1 && has_cases(families, options, has_gpu)) {
      throw UsageError{
          fmt::format("{}; {} ranks run the families that span ranks alone: start the others without a launcher, or "
                      "with WORLD_SIZE=1",
                      error.what(), ranks)};
    }
    if (ranks == 1 && has_cases(for_ranks(families, kSomeRanks), options, has_gpu)) {
      throw UsageError{
          fmt::format("{}; with ranks there are: torchrun --no-python --nproc-per-node={} ./transformer_bench",
                      error.what(), kSomeRanks)};
    }
    throw;
  }
}

}  // namespace tbench::bench
