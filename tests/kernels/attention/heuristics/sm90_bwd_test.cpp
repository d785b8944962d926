// Tests the selection of the sm90 backward kernels: which problems they serve, and with which kernel.
#include "kernels/attention/heuristics/sm90_bwd.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "attention/sm90/bwd/run.hpp"
#include "support/plan_problem.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kBf16, seq, head_dim, heads, causal);
}

TEST(ChooseBackward, TakesHopperAndWhatHasAnInstance) {
  EXPECT_TRUE(choose_backward(problem(1024, 64, 12), kH200));
  EXPECT_TRUE(choose_backward(problem(1024, 128, 12), kH200));
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(choose_backward(problem(1024, 64, 12), other)) << major << "." << minor;
    EXPECT_EQ(backward_workspace_bytes(problem(1024, 64, 12), other), 0u);
  }
  EXPECT_TRUE(choose_backward(problem(1024, 256, 12), kH200));
  for (const std::int64_t head_dim : {16, 32, 96}) {
    EXPECT_FALSE(choose_backward(problem(1024, head_dim, 12), kH200)) << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(1024, 128, 12);
    one.precision = precision;
    EXPECT_EQ(choose_backward(one, kH200).has_value(), precision == Precision::kBf16 || precision == Precision::kFp16);
  }
}

TEST(ChooseBackward, TheSameBitsEveryTimeUpToFourTilesOfKeys) {
  for (const std::int64_t head_dim : {80, 128}) {
    AttentionProblem one = problem(513, head_dim, 10);
    one.deterministic = true;
    EXPECT_FALSE(choose_backward(one, kH200)) << head_dim;
    one.shape.seq_q = one.shape.seq_kv = 512;
    EXPECT_EQ(choose_backward(one, kH200), (BwdPlan{BwdSchedule::kPersistent, DqAccumulation::kPerKvTile})) << head_dim;
  }
  // At head_dim 64 the split backward pass, with or without `deterministic`, is selected up to 28 steps per consumer
  // group: 2 * 48 * 10 * 11 / 2 steps for 264 groups.
  AttentionProblem one = problem(640, 64, 12);
  one.deterministic = true;
  EXPECT_EQ(choose_backward(one, kH200), (BwdPlan{BwdSchedule::kPersistent, DqAccumulation::kNone}));
}

TEST(ChooseBackward, LeavesTheSameBitsEveryTimeOf256ColumnsToAmperesKernels) {
  for (const std::int64_t seq : {64, 512}) {
    AttentionProblem one = problem(seq, 256, 25);
    EXPECT_EQ(choose_backward(one, kH200), (BwdPlan{BwdSchedule::kOneTilePerCta, DqAccumulation::kAtomic})) << seq;
    one.deterministic = true;
    EXPECT_FALSE(choose_backward(one, kH200)) << seq;
  }
}

TEST(ChooseBackward, TakesEveryInstanceSomewhere) {
  for (const BackwardInstance& instance : kBackwardInstances) {
    for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
      EXPECT_EQ(choose_backward(chosen_problem(instance, precision), kH200), instance.choice) << name_of(instance);
    }
  }
}

TEST(ChooseBackward, SumsApartWhereTheyWereMeasuredToBeFaster) {
  constexpr BwdPlan kPerKvTile{BwdSchedule::kPersistent, DqAccumulation::kPerKvTile};
  // With more heads than SMs, or with few, one CTA per head is not selected.
  EXPECT_EQ(choose_backward(problem(256, 80, 34), kH200), kPerKvTile);
  EXPECT_EQ(choose_backward(problem(256, 80, 12, false), kH200), kPerKvTile);
  EXPECT_EQ(choose_backward(problem(257, 80, 12), kH200)->sums, DqAccumulation::kAtomic);
  // head_dim 64, too many steps for the split backward pass
  EXPECT_EQ(choose_backward(problem(256, 64, 60, false), kH200), kPerKvTile);
  EXPECT_EQ(choose_backward(problem(384, 64, 60, false), kH200)->sums, DqAccumulation::kAtomic);
  // head_dim 128, more work tiles than SMs: 4 * 17 * 2 = 136, 4 * 16 * 2 = 128
  EXPECT_EQ(choose_backward(problem(256, 128, 17), kH200), kPerKvTile);
  EXPECT_EQ(choose_backward(problem(256, 128, 16), kH200),
            (BwdPlan{BwdSchedule::kOneTilePerCta, DqAccumulation::kAtomic}));
}

TEST(ChooseBackward, LeavesShortSequencesAndFewBlocksToAmperesKernels) {
  EXPECT_FALSE(choose_backward(problem(255, 64, 100), kH200));
  // Without one CTA per head, with and without a mask: 4 * 11 * 2 = 88 CTAs are 2 / 3 of 132; 80 are fewer.
  for (const bool causal : {true, false}) {
    EXPECT_TRUE(choose_backward(problem(256, 80, 11, causal), kH200)) << causal;
    EXPECT_FALSE(choose_backward(problem(256, 80, 10, causal), kH200)) << causal;
  }
  // At head_dim 64, the split backward pass does not support different numbers of queries and keys.
  AttentionProblem many_keys = problem(512, 64, 4, false);
  many_keys.shape.seq_kv = 600;
  many_keys.shape.heads = 3;
  EXPECT_TRUE(choose_backward(many_keys, kH200));  // 4 * 3 * 5 = 60 CTAs, more than 3 / 8 of 132
  many_keys.shape.heads = 2;
  EXPECT_FALSE(choose_backward(many_keys, kH200));  // 40
  EXPECT_TRUE(choose_backward(problem(512, 128, 1), kH200));
  many_keys.shape.seq_q = 1024;
  many_keys.shape.seq_kv = 1200;
  EXPECT_TRUE(choose_backward(many_keys, kH200));
  EXPECT_TRUE(choose_backward(problem(64, 256, 1), kH200));
  EXPECT_FALSE(choose_backward(problem(63, 256, 100), kH200));
  AttentionProblem few_queries = problem(1024, 64, 12, false);
  few_queries.shape.seq_q = 200;
  EXPECT_FALSE(choose_backward(few_queries, kH200));
}

/// Returns a problem with `heads` heads in one batch.
AttentionProblem one_batch(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  AttentionProblem one = problem(seq, head_dim, heads, causal);
  one.shape.batch = 1;
  return one;
}

/// Returns the number of CTAs per head; nothing if other kernels are faster. At head_dim 64 the split backward pass may
/// still be faster.
std::optional<int> shares(const AttentionProblem& one) {
  const Occupancy occupancy{one, kH200};
  if (one.shape.head_dim == 64) {
    return whole_heads_pay(occupancy)    ? std::optional{1}
           : shared_heads_pay(occupancy) ? std::optional{2}
                                         : std::nullopt;
  }
  const auto plan = choose_backward(one, kH200);
  return plan && plan->sums == DqAccumulation::kPerHead ? std::optional{plan->shares} : std::nullopt;
}
std::optional<int> shares(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true,
                          bool deterministic = false) {
  AttentionProblem one = one_batch(seq, head_dim, heads, causal);
  one.deterministic = deterministic;
  return shares(one);
}
constexpr bool kCausal = true, kFull = false, kDeterministic = true;

bool beats_split(const AttentionProblem& one) { return whole_heads_beat_split({one, kH200}); }

/// Range of numbers of heads for which one CTA per head is selected: from `first` up to the number of SMs.
struct Taken {
  std::int64_t seq, head_dim;
  bool causal, deterministic;
  int first;  // 0: none
};

TEST(HeadShares, AreOneWhereABlockAHeadWasMeasuredToBeFaster) {
  for (const auto& [seq, head_dim, causal, deterministic, first] : {
           Taken{65, 64, kCausal, false, 44},
           {128, 80, kCausal, false, 44},
           {128, 64, kFull, false, 44},
           {129, 64, kCausal, false, 80},
           {256, 64, kFull, false, 80},
           {129, 80, kCausal, false, 44},
           {256, 80, kCausal, false, 44},
           {256, 80, kFull, false, 80},
           {257, 64, kCausal, false, 99},
           {384, 64, kFull, false, 99},
           {257, 80, kCausal, false, 80},
           {384, 80, kFull, false, 88},
           {385, 64, kCausal, false, 99},
           {512, 64, kFull, false, 99},
           {385, 80, kCausal, false, 88},
           {512, 80, kCausal, kDeterministic, 88},
           {512, 80, kFull, kDeterministic, 99},
           {513, 64, kFull, false, 0},
           {513, 80, kFull, false, 0},
           {640, 80, kCausal, false, 88},
           {641, 80, kCausal, false, 99},
           {768, 64, kCausal, false, 99},
           {769, 64, kCausal, false, 0},
           {769, 80, kCausal, false, 0},
           {513, 80, kCausal, kDeterministic, 80},
           {1024, 64, kCausal, kDeterministic, 80},
           {1024, 64, kFull, kDeterministic, 0},
           {64, 80, kCausal, false, 0},
           {1025, 64, kCausal, kDeterministic, 0},
           {512, 128, kCausal, kDeterministic, 0},
           {512, 256, kCausal, false, 0},
       }) {
    SCOPED_TRACE(testing::Message() << seq << " x " << head_dim << (causal ? ", causal" : "")
                                    << (deterministic ? ", deterministic" : ""));
    for (int heads = 1; heads <= 140; ++heads) {
      EXPECT_EQ(shares(seq, head_dim, heads, causal, deterministic) == 1, first > 0 && heads >= first && heads <= 132)
          << heads;
    }
  }
}

TEST(HeadShares, AreTwoWhereTheSameBitsAreWantedAndHeadsAreFew) {
  for (const std::int64_t seq : {513, 1024}) {
    EXPECT_EQ(shares(seq, 64, 43, kCausal, kDeterministic), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 64, 44, kCausal, kDeterministic), 2) << seq;
    EXPECT_EQ(shares(seq, 64, 66, kCausal, kDeterministic), 2) << seq;
    EXPECT_EQ(shares(seq, 64, 67, kCausal, kDeterministic), std::nullopt) << "more blocks than multiprocessors";
    EXPECT_EQ(shares(seq, 64, 64, kCausal), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 64, 64, kFull, kDeterministic), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 80, 64, kCausal, kDeterministic), std::nullopt) << seq;
  }
  EXPECT_EQ(shares(512, 64, 64, kCausal, kDeterministic), std::nullopt) << "sums apart";
}

TEST(HeadShares, AreOfAsManyTilesOfQueriesAsOfKeys) {
  AttentionProblem one = one_batch(256, 64, 100, kFull);
  one.shape.seq_q = 200;
  EXPECT_EQ(shares(one), 1);
  for (const std::int64_t seq_q : {64, 128, 257}) {
    one.shape.seq_q = seq_q;
    EXPECT_EQ(shares(one), std::nullopt) << seq_q;
  }
}

TEST(BeatsSplit, WithAMaskAndMoreThanHalfOfTheLastStep) {
  for (const auto& [seq, beats] :
       {std::pair{128, false}, {129, false}, {192, false}, {193, true}, {256, true}, {320, false}, {321, true}}) {
    EXPECT_EQ(beats_split(one_batch(seq, 64, 100)), beats) << seq;
    EXPECT_FALSE(beats_split(one_batch(seq, 64, 100, kFull))) << seq;
  }
}

TEST(ChooseBackward, GoesByHeadsWhereThatIsFaster) {
  constexpr BwdPlan kWhole{BwdSchedule::kPersistent, DqAccumulation::kPerHead};
  EXPECT_EQ(choose_backward(one_batch(100, 80, 48), kH200), kWhole) << "where the sm80 kernels were taken before";
  EXPECT_EQ(choose_backward(one_batch(512, 80, 100), kH200), kWhole);
  EXPECT_EQ(choose_backward(one_batch(256, 64, 100, false), kH200), kWhole)
      << "where the split backward pass is slower";
  EXPECT_EQ(choose_backward(one_batch(256, 64, 80), kH200), kWhole);
  EXPECT_EQ(choose_backward(one_batch(256, 64, 79), kH200)->sums, DqAccumulation::kNone);
  EXPECT_EQ(choose_backward(one_batch(320, 64, 100), kH200)->sums, DqAccumulation::kNone);
  AttentionProblem same_bits = one_batch(1024, 64, 64);
  same_bits.deterministic = true;
  EXPECT_EQ(choose_backward(same_bits, kH200),
            (BwdPlan{BwdSchedule::kPersistent, DqAccumulation::kPerHead, /*shares=*/2}));
  EXPECT_EQ(backward_workspace_bytes(same_bits, kH200),
            backward_workspace(same_bits.shape, {.sums = DqAccumulation::kPerHead, .shares = 2}).bytes());
  AttentionProblem tf32 = one_batch(512, 64, 100);
  tf32.precision = Precision::kTf32;
  EXPECT_FALSE(choose_backward(tf32, kH200));
}

AttentionShape shape(std::int64_t seq, std::int64_t heads, bool causal = true) {
  return problem(seq, 64, heads, causal).shape;
}

/// Returns whether the split backward pass is selected, unless one CTA per head is even faster.
bool choose(const AttentionShape& one) {
  const AttentionProblem split{.shape = one, .precision = Precision::kBf16, .scale = 0.125f};
  if (one.head_dim == 64) return split_pays({split, kH200});
  const auto plan = choose_backward(split, kH200);
  return plan && plan->sums == DqAccumulation::kNone;
}

TEST(ChooseSplit, OfOneHeadDimAndMoreThanATile) {
  EXPECT_FALSE(choose(shape(64, 12)));
  EXPECT_TRUE(choose(shape(65, 12)));
  for (const std::int64_t head_dim : {32, 80, 128, 256}) {
    AttentionShape one = shape(256, 12);
    one.head_dim = head_dim;
    EXPECT_FALSE(choose(one)) << head_dim;
  }
  AttentionShape one = shape(256, 12, false);
  one.seq_kv = 193;  // the same number of tiles
  EXPECT_TRUE(choose(one));
  one.seq_kv = 192;
  EXPECT_FALSE(choose(one));
}

}  // namespace
}  // namespace tbench::kernels::sm90
