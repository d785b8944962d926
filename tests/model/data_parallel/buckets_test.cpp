#include "model/data_parallel/buckets.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::model {
namespace {

using ::testing::ElementsAre;
using Indices = std::vector<std::size_t>;

/// Leaves of 100, 64 and 200 elements.
std::vector<at::Tensor> three_leaves() {
  return {at::empty({10, 10}, at::kFloat), at::empty({64}, at::kFloat), at::empty({2, 100}, at::kFloat)};
}

TEST(Buckets, AreClosedOnceTheyHoldSoManyBytesFromTheLastLeafOn) {
  // Leaves are aligned to 256 bytes: 200 elements take 1024 bytes (800 rounded up), 64 take 256, 100 take 512 (400
  // rounded up).
  const std::vector<Bucket> buckets = make_buckets(three_leaves(), 1200);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].leaves, (Indices{2, 1}));  // 1024 < 1200 <= 1280
  EXPECT_EQ(buckets[1].leaves, (Indices{0}));
  EXPECT_EQ(buckets[0].data.numel(), 320);  // 256 + 64
  EXPECT_EQ(bytes_of(buckets), 1280 + 512);
  EXPECT_EQ(gradient_bytes_of(three_leaves()), (100 + 64 + 200) * 4);
}

TEST(Buckets, OneHoldsAllWithoutALimit) {
  const std::vector<Bucket> buckets = make_buckets(three_leaves(), std::nullopt);
  ASSERT_EQ(buckets.size(), 1U);
  EXPECT_EQ(buckets[0].leaves, (Indices{2, 1, 0}));
}

TEST(Buckets, HaveOneDtypeEach) {
  const std::vector<at::Tensor> leaves = three_leaves();
  for (const std::size_t leaf : {0U, 2U}) {
    leaves[leaf].mutable_grad() = at::empty(leaves[leaf].sizes(), at::kBFloat16);
  }
  const std::vector<Bucket> buckets = make_buckets(leaves, std::nullopt);
  ASSERT_EQ(buckets.size(), 2U);
  for (const Bucket& bucket : buckets) {
    const bool is_short = bucket.data.scalar_type() == at::kBFloat16;
    EXPECT_EQ(bucket.leaves, is_short ? (Indices{2, 0}) : (Indices{1}));
  }
  EXPECT_EQ(gradient_bytes_of(leaves), (100 + 200) * 2 + 64 * 4);
}

TEST(Buckets, TakeGradientsAndGiveThemBack) {
  const std::vector<at::Tensor> leaves = three_leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    leaves[leaf].mutable_grad() = at::full(leaves[leaf].sizes(), static_cast<double>(leaf + 1), at::kFloat);
  }
  const std::vector<Bucket> buckets = make_buckets(leaves, std::nullopt);
  fill(buckets[0], leaves);
  EXPECT_DOUBLE_EQ(buckets[0].data.sum().item<double>(), 100 * 1 + 64 * 2 + 200 * 3);  // the padding is zero
  buckets[0].data.mul_(2);
  EXPECT_DOUBLE_EQ(leaves[1].grad().sum().item<double>(), 64 * 2);
  empty_into_gradients(buckets[0], leaves);
  EXPECT_DOUBLE_EQ(leaves[1].grad().sum().item<double>(), 64 * 4);
  show_as_gradients(buckets[0], leaves);
  buckets[0].data.zero_();
  EXPECT_DOUBLE_EQ(leaves[2].grad().sum().item<double>(), 0);
  EXPECT_THAT(leaves[2].grad().sizes(), ElementsAre(2, 100));
}

}  // namespace
}  // namespace tbench::model
