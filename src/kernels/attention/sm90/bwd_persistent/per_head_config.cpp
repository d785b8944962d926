#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"

#include <algorithm>
#include <cstdint>

namespace tbench::kernels::sm90 {

Launch backward_heads_launch(const AttentionShape& shape, int shares, const DeviceLimits& limits) {
  const std::int64_t blocks = shape.batch * shape.heads * shares;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), BwdSchedule::kPersistent).end;
  return {.grid = {std::min<std::int64_t>(blocks, limits.multiprocessors), 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes)};
}

}  // namespace tbench::kernels::sm90
