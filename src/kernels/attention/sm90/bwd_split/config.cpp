#include "kernels/attention/sm90/bwd_split/config.hpp"

#include <algorithm>

namespace tbench::kernels::sm90 {

SplitOrder kinds_order(const AttentionShape& shape) {
  const std::int64_t key_tiles = block_count(shape.seq_kv, kWgmmaM);
  const std::int64_t query_tiles = block_count(shape.seq_q, kWgmmaM);
  const std::int64_t heads = shape.batch * shape.heads;
  return {.key_tiles = static_cast<int>(key_tiles),
          .query_tiles = static_cast<int>(query_tiles),
          .items = static_cast<int>((key_tiles + query_tiles) * heads),
          .all_heads = make_fast_divmod(static_cast<int>(heads)),
          .heads = make_fast_divmod(static_cast<int>(shape.heads))};
}

Launch kinds_launch(const AttentionShape& shape, SplitConfig tile, const DeviceLimits& limits) {
  return {.grid = {std::min(kinds_order(shape).items, limits.multiprocessors), 1, 1},
          .threads = kKindsThreads,
          .shared_bytes = static_cast<std::size_t>(kKindsTeams * team_bytes(tile) +
                                                   kSharedAlignment)};  // the kernel aligns its tiles
}

}  // namespace tbench::kernels::sm90
