// Tests the reducer with two ranks in one process, each in a thread.
#include "tbench/ranks/reducer.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "../support/two_ranks.hpp"

namespace tbench::ranks {
namespace {

using support::as_two_ranks;

/// Returns parameters of 256, 512 and 768 bytes, which need several buckets of 500 bytes.
std::vector<at::Tensor> parameters() {
  std::vector<at::Tensor> leaves;
  for (const std::int64_t count : {64, 128, 192}) leaves.push_back(at::ones({count}).requires_grad_(true));
  return leaves;
}

/// Makes `factor` the gradient of every parameter.
void backward_of(const std::vector<at::Tensor>& leaves, double factor) {
  at::Tensor loss = leaves.front().sum().mul(factor);
  for (std::size_t i = 1; i < leaves.size(); ++i) loss = loss.add(leaves[i].sum().mul(factor));
  loss.backward();
}

TEST(Reducer, LeavesTheMeanInEveryStep) {
  as_two_ranks([](Group& group) {
    const std::vector<at::Tensor> leaves = parameters();
    Reducer reducer{group, leaves, 500};
    EXPECT_EQ(reducer.held_bytes(), 256 + 512 + 768);
    for (int step = 1; step <= 3; ++step) {
      for (const at::Tensor& leaf : leaves) leaf.mutable_grad().reset();
      const double own = step * (group.rank() == 0 ? 1.0 : 4.0);
      reducer.average([&] { backward_of(leaves, own); });
      for (const at::Tensor& leaf : leaves) {
        EXPECT_TRUE(leaf.grad().equal(at::full(leaf.sizes(), step * 2.5))) << step;  // (1 + 4) / 2
      }
    }
  });
}

TEST(Reducer, AFailureOfItsBackwardIsThatOfTheGroup) {
  as_two_ranks([](Group& group) {
    const std::vector<at::Tensor> leaves = parameters();
    Reducer reducer{group, leaves, 500};
    EXPECT_THROW(reducer.average([] { throw std::runtime_error{"planted"}; }), std::runtime_error);
    EXPECT_TRUE(group.has_failed());
  });
}

}  // namespace
}  // namespace tbench::ranks
