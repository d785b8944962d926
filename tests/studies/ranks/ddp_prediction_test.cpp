// Predicts steps with three gradients. Collectives take 1 us per kB unless a test says otherwise, so that the expected
// times are easy to add up by hand.

#include "studies/ranks/ddp_prediction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tbench/core/work.hpp"

namespace tbench::studies {
namespace {

using enum DdpStrategy;

constexpr double kUs = 1e-6;
constexpr IsolatedStep kIsolated{.step = {100 * kUs}, .backward = {40 * kUs}, .optimizer = {20 * kUs}};
constexpr std::array kGradients{GradientTensor{1000, 0.25}, GradientTensor{2000, 0.5}, GradientTensor{1000, 1}};
constexpr double kMebi = 1024.0 * 1024.0;

/// Returns times of two GPUs: 1 us per kB.
CollectiveTimes times() {
  CollectiveTimes all;
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kReduceScatter, CollectiveOp::kAllGather}) {
    all.add(op, 2, 1e3, Seconds{1 * kUs});
    all.add(op, 2, 1e7, Seconds{1e4 * kUs});
  }
  return all;
}

DdpPlan plan(DdpStrategy strategy, double bucket_bytes = 1) {
  return {.strategy = strategy, .gpus = 2, .gradients = kGradients, .gradient_bytes = 4, .bucket_bytes = bucket_bytes};
}

/// Adds copies with 6.4 GB/s of reads and writes: 1.25 us for 4,000 bytes, 5 us for all 16,000.
DdpPlan with_copies(DdpPlan of) {
  of.copy_per_second = 6.4e9;
  return of;
}

void expect_us(const std::optional<DdpPrediction>& prediction, double step, double communication, double exposed) {
  ASSERT_TRUE(prediction.has_value());
  EXPECT_NEAR(prediction->step.value / kUs, step, 1e-6);
  EXPECT_NEAR(prediction->communication.value / kUs, communication, 1e-6);
  EXPECT_NEAR(prediction->exposed.value / kUs, exposed, 1e-6);
}

TEST(GradientBuckets, CloseOnceTheyHoldEnough) {
  const std::vector<GradientBucket> buckets = gradient_buckets(kGradients, 4, 8000, 8000);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].bytes, 12'000);  // 4,000 are too few; the next gradient adds 8,000
  EXPECT_EQ(buckets[0].backward_share, 0.5);
  EXPECT_EQ(buckets[1].bytes, 4000);
  EXPECT_EQ(buckets[1].backward_share, 1);
  EXPECT_EQ(gradient_buckets(kGradients, 4, 0, 0).size(), 3U);
  const std::vector<GradientBucket> small_first = gradient_buckets(kGradients, 4, 12'000, 4000);
  ASSERT_EQ(small_first.size(), 2U);
  EXPECT_EQ(small_first[0].bytes, 4000);
  EXPECT_EQ(small_first[1].bytes, 12'000);
}

TEST(PredictStep, NaiveExchangesTensorByTensorAfterwards) {
  expect_us(predict_step(kIsolated, plan(kNaive), times()), 116, 16, 16);  // 100 + 4 + 8 + 4
}

TEST(PredictStep, FlatCopiesInAndOut) {
  expect_us(predict_step(kIsolated, plan(kFlat), times()), 116, 16, 16);
  expect_us(predict_step(kIsolated, with_copies(plan(kFlat)), times()), 126, 16, 16);
}

TEST(PredictStep, BucketedExchangesBucketByBucketAfterwards) {
  CollectiveTimes with_latency;
  with_latency.add(CollectiveOp::kAllReduce, 2, 4000, Seconds{10 * kUs});
  with_latency.add(CollectiveOp::kAllReduce, 2, 12'000, Seconds{15 * kUs});
  expect_us(predict_step(kIsolated, plan(kBucketed, 8000), with_latency), 125, 25, 25);
  // The buckets are copied after 3.75 and 5 us, and exchanged from 3.75 to 15.75 and to 19.75. Copies take 5 us of
  // that.
  expect_us(predict_step(kIsolated, with_copies(plan(kBucketed, 8000)), times()), 119.75, 16, 14.75);
}

TEST(PredictStep, OverlappedExposesWhatEndsAfterTheBackwardPass) {
  // The gradients are ready at 10, 20 and 40 us, and exchanged from 10 to 14, 20 to 28 and 40 to 44.
  expect_us(predict_step(kIsolated, plan(kOverlapped, 4000), times()), 104, 16, 4);
  // Copies of 1.25, 2.5 and 1.25 us come first, so exchanges run from 11.25 to 15.25, 23.75 to 31.75 and 45 to 49.
  expect_us(predict_step(kIsolated, with_copies(plan(kOverlapped, 4000)), times()), 109, 16, 4);
  // In a backward pass of 12 us, the exchanges wait for each other and run from 3 to 7, 7 to 15, and 15 to 19 us.
  IsolatedStep quick = kIsolated;
  quick.backward = {12 * kUs};
  expect_us(predict_step(quick, plan(kOverlapped, 4000), times()), 107, 16, 7);
}

TEST(PredictStep, HiddenCommunicationSlowsTheBackwardPass) {
  DdpPlan costly = plan(kOverlapped, 4000);
  costly.overlap_cost = 0.5;
  expect_us(predict_step(kIsolated, costly, times()), 110, 16, 4);  // 104, and half of the 12 that are hidden
  costly.strategy = kReducer;
  expect_us(predict_step(kIsolated, costly, times()), 110, 16, 4);
  costly.strategy = kBucketed;
  expect_us(predict_step(kIsolated, costly, times()), 116, 16, 16);
  costly.overlap_cost = -0.1;
  EXPECT_THROW(static_cast<void>(predict_step(kIsolated, costly, times())), std::invalid_argument);
}

TEST(OverlapCost, IsInPartsOfTheShorterOne) {
  EXPECT_NEAR(overlap_cost(Seconds{4}, Seconds{1}, Seconds{4}), 0, 1e-12);
  EXPECT_NEAR(overlap_cost(Seconds{4}, Seconds{1}, Seconds{5}), 1, 1e-12);
  EXPECT_NEAR(overlap_cost(Seconds{4}, Seconds{1}, Seconds{4.25}), 0.25, 1e-12);
  EXPECT_NEAR(overlap_cost(Seconds{2}, Seconds{4}, Seconds{5}), 0.5, 1e-12);
  EXPECT_EQ(overlap_cost(Seconds{4}, Seconds{1}, Seconds{3.9}), 0) << "faster at once than the longer one alone";
  EXPECT_THROW(static_cast<void>(overlap_cost(Seconds{4}, Seconds{}, Seconds{4})), std::invalid_argument);
}

TEST(PredictStep, TheReducersFirstBucketIsSmallByDefault) {
  const std::vector<GradientTensor> large{{262'144, 0.25}, {262'144, 0.5}, {262'144, 1}};  // 1 MiB each: 1,048.576 us
  const IsolatedStep isolated{.step = {9000 * kUs}, .backward = {4000 * kUs}, .optimizer = {}};
  DdpPlan of_large = plan(kReducer, 25 * kMebi);
  of_large.gradients = large;
  // The first 1 MiB starts at 1,000. The other 2 MiB take from 4,000 to 6,097.152.
  expect_us(predict_step(isolated, of_large, times()), 11'097.152, 3145.728, 2097.152);
  of_large.strategy = kOverlapped;  // 3 MiB start at 4,000
  expect_us(predict_step(isolated, of_large, times()), 12'145.728, 3145.728, 3145.728);
  // 2 MiB take from 2,000 to 4,097.152, and then 1 MiB follows.
  of_large.bucket_bytes = 2 * kMebi;
  for (const DdpStrategy strategy : {kOverlapped, kReducer}) {
    of_large.strategy = strategy;
    expect_us(predict_step(isolated, of_large, times()), 10'145.728, 3145.728, 1145.728);
  }
}

TEST(PredictStep, AShardedOptimizerDoesItsShareAlone) {
  expect_us(predict_step(kIsolated, plan(kShardedOptimizer), times()), 122, 32, 32);  // 100 - 20 + 10 + 16 + 16
  expect_us(predict_step(kIsolated, with_copies(plan(kShardedOptimizer)), times()), 127, 32, 32);
  DdpPlan half = plan(kShardedOptimizer);
  half.gradient_bytes = 2;  // the gathered parameters have 4 bytes
  expect_us(predict_step(kIsolated, half, times()), 114, 24, 24);

  // The 2.5 parts of 128 MiB take 70 us each, the half part takes 40 us, and gathering takes 100 us.
  CollectiveTimes of_parts;
  of_parts.add(CollectiveOp::kReduceScatter, 2, 64 * kMebi, Seconds{40 * kUs});
  of_parts.add(CollectiveOp::kReduceScatter, 2, 128 * kMebi, Seconds{70 * kUs});
  of_parts.add(CollectiveOp::kAllGather, 2, 320 * kMebi, Seconds{100 * kUs});
  const std::array large{GradientTensor{80 << 20, 1}};
  DdpPlan in_parts = plan(kShardedOptimizer);
  in_parts.gradients = large;
  expect_us(predict_step(kIsolated, in_parts, of_parts), 370, 280, 280);  // 100 - 20 + 10 + 180 + 100
}

TEST(PredictStep, MoreGpusTakeMoreOfTheSameLink) {
  DdpPlan of_eight = plan(kFlat);
  of_eight.gpus = 8;
  expect_us(predict_step(kIsolated, of_eight, times()), 127.25, 27.25, 27.25);  // 1 + (16 - 1) * 1.75
}

TEST(PredictStep, NeedsTheCollectivesThatItTakes) {
  CollectiveTimes without_gather;
  without_gather.add(CollectiveOp::kReduceScatter, 2, 1e3, Seconds{1 * kUs});
  EXPECT_FALSE(predict_step(kIsolated, plan(kShardedOptimizer), without_gather).has_value());
  for (const DdpStrategy strategy : {kNaive, kFlat, kBucketed, kOverlapped, kReducer}) {
    EXPECT_FALSE(predict_step(kIsolated, plan(strategy), without_gather).has_value()) << to_string(strategy);
  }
  EXPECT_FALSE(predict_step(kIsolated, plan(kNone), times()).has_value());
}

TEST(PredictStep, RefusesAPlanThatIsNone) {
  DdpPlan one = plan(kFlat);
  one.gpus = 1;
  EXPECT_THROW(static_cast<void>(predict_step(kIsolated, one, times())), std::invalid_argument);
  DdpPlan empty = plan(kFlat);
  empty.gradients = {};
  EXPECT_THROW(static_cast<void>(predict_step(kIsolated, empty, times())), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(predict_step(kIsolated, plan(kBucketed, 0), times())), std::invalid_argument);
}

// The extents keep the sums short; head_dim is 2.
const ModelSize kMini{"mini", 4, 8, 1, 2};
constexpr TensorLayout kJoined{.joined_qkv = true, .joined_gate_up = true};

// FLOP of the backward pass for 8 tokens:
//   LM head              4 * 8 * 10,000 * 4  1,280,000
//   w2                   4 * 8 * 4 * 8           1,024
//   w1, w3               each the same           2,048
//   output projection    4 * 8 * 4 * 4             512
//   attention's core     2.5 * 4 * 2 * 8 * 8 * 2 / 2  1,280
//   q, k, v              each 512                1,536
//                                            1,286,400
constexpr double kTotal = 1'286'400;

TEST(GradientOrder, GoesFromTheLastParameterToTheFirst) {
  const std::vector<GradientTensor> tensors = gradient_order(kMini, 8, 1, kJoined);
  const std::vector<std::int64_t> elements{40'000, 4, 32, 64, 4, 16, 48, 4, 40'000};
  const std::vector<double> done{1'280'000, 1'280'000, 1'281'024, 1'283'072, 1'283'072,
                                 1'283'584, 1'286'400, 1'286'400, 1'286'400};
  ASSERT_EQ(tensors.size(), elements.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].elements, elements[i]) << i;
    EXPECT_DOUBLE_EQ(tensors[i].backward_share, done[i] / kTotal) << i;
  }
}

TEST(GradientOrder, TensorsThatAreNotJoinedAreCompleteOneByOne) {
  const std::vector<GradientTensor> tensors = gradient_order(kMini, 8, 1, {});
  ASSERT_EQ(tensors.size(), 12U);
  EXPECT_EQ(tensors[3].elements, 32);  // w1 and w3
  EXPECT_DOUBLE_EQ(tensors[3].backward_share, 1'282'048 / kTotal);
  EXPECT_DOUBLE_EQ(tensors[4].backward_share, 1'283'072 / kTotal);
  EXPECT_EQ(tensors[7].elements, 16);                               // q, k and v
  EXPECT_DOUBLE_EQ(tensors[7].backward_share, 1'285'376 / kTotal);  // 1,283,584 + 1,280 + 512
  EXPECT_DOUBLE_EQ(tensors[9].backward_share, 1);
}

TEST(GradientOrder, HasAllParametersAndTheBackwardPassesFlop) {
  for (const ModelSize& size : builtin_model_sizes()) {
    if (!size.has_plain_layers()) continue;  // DataParallel refuses these
    for (const TensorLayout& layout : {TensorLayout{}, kJoined}) {
      std::int64_t elements = 0;
      double before = 0;
      const std::vector<GradientTensor> tensors = gradient_order(size, 512, 4, layout);
      for (const GradientTensor& tensor : tensors) {
        elements += tensor.elements;
        EXPECT_GE(tensor.backward_share, before);
        before = tensor.backward_share;
      }
      EXPECT_EQ(elements, parameter_count(size)) << size.name;
      EXPECT_DOUBLE_EQ(before, 1);
      const Flop backward{model_step_work(size, 512, 4, Pass::kForwardBackward).flop.value -
                          model_step_work(size, 512, 4, Pass::kForward).flop.value};
      const double head = 4.0 * 2048 * static_cast<double>(size.vocab_size * size.d_model);
      EXPECT_NEAR(tensors.front().backward_share, head / backward.value, 1e-12) << size.name;
    }
  }
}

TEST(GradientOrder, RefusesExtentsThatAreNotPositive) {
  EXPECT_THROW(static_cast<void>(gradient_order(kMini, 0, 1, {})), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::studies
