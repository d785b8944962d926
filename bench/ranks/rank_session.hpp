// What a launcher changes about a run as a whole: whether there is one, what it rules out, which GPU is this rank's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/options.hpp"
#include "bench/ranks/rank_meeting.hpp"
#include "bench/selection.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::bench {

/// What this process's environment says; nothing for a process by itself.
/// @throws  UsageError  as ranks::find_launch()
[[nodiscard]] std::optional<ranks::Launch> own_launch();

/// The meeting with the other ranks, which opens their store when it first needs it.
[[nodiscard]] std::unique_ptr<RankMeeting> make_meeting(const ranks::Launch& launch);

/// @throws  UsageError  for an option that ranks cannot serve
void check_with_ranks(const Options& options);

/// Lets the workers that this process starts see this rank's GPU alone. Call it before there are threads.
/// @throws  UsageError  as ranks::visible_gpu()
void show_own_gpu(const ranks::Launch& launch);

/// The cases of this run as select_cases() finds them: under a launcher those that span ranks, else all others.
/// @throws  UsageError  as select_cases(); where they would be found with or without a launcher, it says so
[[nodiscard]] Selection select_for_launch(const std::vector<Family>& families, const Options& options, bool has_gpu);

}  // namespace tbench::bench
