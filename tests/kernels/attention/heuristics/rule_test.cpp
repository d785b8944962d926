#include "kernels/attention/heuristics/rule.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tbench::kernels {
namespace {

constexpr DeviceLimits kA100{
    .compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * 1024};

AttentionProblem problem(std::int64_t seq_q, std::int64_t seq_kv) {
  return {.shape = {.batch = 4, .heads = 3, .seq_q = seq_q, .seq_kv = seq_kv, .head_dim = 64}};
}

constexpr std::array kRules{Rule<int>{"seq_q < 10", [](const Occupancy& o) { return o.seq_q() < 10; }, 1},
                            Rule<int>{"seq_q < 20", [](const Occupancy& o) { return o.seq_q() < 20; }, 2},
                            Rule<int>{kOtherwise, &always, 3}};
constexpr RuleTable<int> kTable{"table[part]", kRules};

TEST(RuleTable, TheFirstRuleThatAppliesDecides) {
  for (const auto& [seq, config] : {std::pair{9, 1}, {10, 2}, {19, 2}, {20, 3}}) {
    const Decision<int> decision = kTable.decide({problem(seq, seq), kA100});
    EXPECT_EQ(decision.config, config) << seq;
    EXPECT_EQ(decision.rule.number, config) << seq;
  }
  EXPECT_EQ(to_string(kTable.decide({problem(12, 12), kA100}).rule), "table[part] #2: seq_q < 20");
  EXPECT_EQ(to_string(kTable.decide({problem(99, 12), kA100}).rule), "table[part] #3: otherwise");
}

TEST(Occupancy, CountsTilesOfAllHeads) {
  const AttentionProblem one = problem(65, 200);
  const Occupancy occupancy{one, kA100};
  EXPECT_EQ(occupancy.heads(), 12);
  EXPECT_EQ(occupancy.q_tiles(64), 24);
  EXPECT_EQ(occupancy.kv_tiles(64), 48);
  EXPECT_EQ(occupancy.min_seq(), 65);
  EXPECT_EQ(occupancy.max_seq(), 200);
  EXPECT_EQ(occupancy.num_sms(), 108);
  EXPECT_TRUE(occupancy.fits(163 * 1024));
  EXPECT_FALSE(occupancy.fits(163 * 1024 + 1));
}

}  // namespace
}  // namespace tbench::kernels
