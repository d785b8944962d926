// Tests the sm90 kernels for grouped-query attention without a GPU: groups of one to four heads, in one or several
// parts, on lengths around the edges of tiles. Warps and copies run in a random order.
#include <gtest/gtest.h>

#include "emulated/emulated_gqa_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90 {
namespace {

const std::vector<GqaExtents> kExtents{{.batch = 1, .heads = 2, .kv_heads = 1, .seq = 1, .causal = true},
                                       {.batch = 2, .heads = 4, .kv_heads = 2, .seq = 65, .causal = true},
                                       {.batch = 1, .heads = 6, .kv_heads = 2, .seq = 130, .causal = false},
                                       {.batch = 2, .heads = 3, .kv_heads = 1, .seq = 129, .causal = true},
                                       {.batch = 1, .heads = 4, .kv_heads = 1, .seq = 193, .causal = true}};

std::string text_of(const GqaExtents& extents) {
  return testing::PrintToString(extents.batch) + " x " + testing::PrintToString(extents.heads) + ":" +
         testing::PrintToString(extents.kv_heads) + " x " + testing::PrintToString(extents.seq) +
         (extents.causal ? ", causal" : "");
}

/// Runs `run` for every problem; `position` selects a part of them in the short form of the tests.
template <int kColumns, class Run>
void for_each_problem(std::size_t position, const Run& run) {
  for (const GqaExtents& extents : kExtents) {
    if (!is_run(position++, 2)) continue;
    SCOPED_TRACE(text_of(extents));
    EmulatedGqa<kColumns> attention{extents, static_cast<std::uint32_t>(position)};
    run(attention, extents);
  }
}

template <int kColumns, class Tile>
void expect_forward(std::size_t position) {
  for_each_problem<kColumns>(position, [](auto& attention, const GqaExtents&) {
    for (const Comparison& one : attention.template forward<Tile>(3)) EXPECT_EQ(one.failure, "");
  });
}

TEST(EmulatedGqaSm90, Forward) {
  expect_forward<64, FwdM128N64x2>(0);
  expect_forward<64, FwdM192N128>(1);
  expect_forward<80, FwdM192N64>(0);
  expect_forward<128, FwdM128N128>(1);
  expect_forward<256, FwdM128N64>(0);
}

template <int kColumns, BwdSchedule kBlocks, DqAccumulation kSums>
void expect_backward(std::size_t position) {
  for_each_problem<kColumns>(position, [](auto& attention, const GqaExtents& extents) {
    const int group = extents.heads / extents.kv_heads;
    for (const int parts : {1, group % 2 == 0 ? 2 : group, group}) {
      SCOPED_TRACE(parts);
      attention.next_order();
      for (const Comparison& one : attention.template backward<kBlocks, kSums>(3, parts)) EXPECT_EQ(one.failure, "");
    }
  });
}

TEST(EmulatedGqaSm90, BackwardOfPersistentCtas) {
  expect_backward<64, BwdSchedule::kPersistent, DqAccumulation::kAtomic>(0);
  expect_backward<80, BwdSchedule::kPersistent, DqAccumulation::kAtomic>(1);
}

TEST(EmulatedGqaSm90, BackwardWithPartialDq) {
  expect_backward<64, BwdSchedule::kPersistent, DqAccumulation::kPerKvTile>(1);
  expect_backward<128, BwdSchedule::kPersistent, DqAccumulation::kPerKvTile>(0);
}

TEST(EmulatedGqaSm90, BackwardOfOneTilePerCta) {
  expect_backward<128, BwdSchedule::kOneTilePerCta, DqAccumulation::kAtomic>(0);
  expect_backward<128, BwdSchedule::kOneTilePerCta, DqAccumulation::kAtomic>(1);
}

template <class Run>
void expect_fault_found(InjectedFault fault, const Names& spoiled, const std::vector<std::string>& outputs,
                        const Run& run) {
  const PlantedScope planted{fault};
  const FaultRow row{"of a group", fault, spoiled};
  expect_found(row, outputs, 1, run);
}

TEST(EmulatedGqaSm90, FaultsAreFound) {
  const GqaExtents extents{.batch = 1, .heads = 6, .kv_heads = 2, .seq = 150, .causal = true};
  EmulatedGqa<128> wide{extents, 1};
  EmulatedGqa<64> narrow{extents, 1};
  using enum DqAccumulation;
  const auto forward = [&] { return wide.forward<FwdM128N128>(2); };
  const auto by_tile = [&] { return wide.backward<BwdSchedule::kOneTilePerCta, kAtomic>(1, 1); };
  const auto persistent = [&] { return narrow.backward<BwdSchedule::kPersistent, kAtomic>(2, 1); };
  const Names all{"dq", "dk", "dv"};
  expect_fault_found(InjectedFault::kGqaHead, {"o", "lse"}, {"o", "lse"}, forward);
  for (const auto& run : {std::function<std::vector<Comparison>()>{by_tile}, {persistent}}) {
    expect_fault_found(InjectedFault::kNone, {}, {"dq", "dk", "dv"}, run);
    expect_fault_found(InjectedFault::kGqaHead, {"dq", "dk", "dv"}, {"dq", "dk", "dv"}, run);
    expect_fault_found(InjectedFault::kGqaStatistics, all, {"dq", "dk", "dv"}, run);
    expect_fault_found(InjectedFault::kGqaDq, {"dq"}, {"dq", "dk", "dv"}, run);
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90
