// Runs two ranks in one process, each in a thread. Their group uses gloo, which permits several ranks per process.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "free_port.hpp"
#include "tbench/ranks/group.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::support {

/// Runs `body` as both ranks.
/// @param limit  time limit of the group's calls
inline void as_two_ranks(const std::function<void(ranks::Group&)>& body, Seconds limit = Seconds{20.0}) {
  make_resolver_impatient();
  ranks::Launch launch{.rank = 0, .size = 2, .local_rank = 0, .address = "127.0.0.1", .port = free_port()};
  const std::unique_ptr<ranks::Store> served = ranks::open_store(launch, /*may_serve=*/true, Seconds{20.0});
  const auto take_part = [&body, limit](ranks::Launch of_rank, int rank) {
    of_rank.rank = of_rank.local_rank = rank;
    ranks::Group group{of_rank, "test", /*on_gpu=*/false, limit};
    body(group);
  };
  const std::jthread other{take_part, launch, 1};
  take_part(launch, 0);
}

}  // namespace tbench::support
