// Tests decisions and refusals of RoPE's host code, without a GPU.
#include "tbench/kernels/rope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RopeRefusal : public testing::Test {
 protected:
  RopeRefusal() {
    for (int part = 0; part < 3; ++part) {
      problem_.from.at(static_cast<std::size_t>(part)) = packed_part(values_, problem_, part);
      problem_.to.at(static_cast<std::size_t>(part)) = contiguous_heads(values_, problem_);
    }
  }
  [[nodiscard]] std::string refusal() const {
    try {
      rope(problem_, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  alignas(16) float values_[64]{};
  RopeProblem problem_{.batch = 2,
                       .heads = 3,
                       .seq = 5,
                       .head_dim = 8,
                       .precision = Precision::kBf16,
                       .parts = 3,
                       .turned = 2,
                       .from = {},
                       .to = {},
                       .cos = values_,
                       .sin = values_,
                       .backward = false};
};

TEST_F(RopeRefusal, ViewsOfTheTwoLayouts) {
  // The shapes are [2, 5, 3, 3, 8], with 72 elements per token and 24 per part, and [2, 3, 5, 8].
  EXPECT_THAT(problem_.from[2].strides, ElementsAre(360, 8, 72));
  EXPECT_EQ(problem_.from[2].data, reinterpret_cast<char*>(values_) + 2 * 24 * 2);
  EXPECT_THAT(problem_.to[1].strides, ElementsAre(120, 40, 8));
}

TEST_F(RopeRefusal, OfExtents) {
  problem_.head_dim = 7;
  EXPECT_THAT(refusal(), HasSubstr("head_dim is 7; pairs turn"));
  problem_.head_dim = 8;
  problem_.seq = 0;
  EXPECT_THAT(refusal(), HasSubstr("seq is 0"));
  problem_.seq = std::int64_t{1} << 30;
  EXPECT_THAT(refusal(), HasSubstr("heads is 3; expected 1 to 1"));
  problem_.seq = 5;
  problem_.parts = 4;
  EXPECT_THAT(refusal(), HasSubstr("parts is 4"));
  problem_.parts = 2;
  problem_.turned = 3;
  EXPECT_THAT(refusal(), HasSubstr("turned parts is 3; expected 0 to 2"));
}

TEST_F(RopeRefusal, OfWhatSplitsPairs) {
  problem_.from[1].strides[1] = 9;
  EXPECT_THAT(refusal(), HasSubstr("a stride is 9"));
  problem_.from[1].strides[1] = 8;
  problem_.to[0].data = reinterpret_cast<char*>(values_) + 2;
  EXPECT_THAT(refusal(), HasSubstr("part 0 does not begin at a pair's address"));
}

TEST_F(RopeRefusal, OfNullPointersAndTf32) {
  problem_.sin = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("null"));
  problem_.sin = values_;
  problem_.to[2].data = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("null"));
  problem_.to[2].data = values_;
  problem_.precision = Precision::kTf32;
  EXPECT_THAT(refusal(), HasSubstr("not a storage type"));
}

}  // namespace
}  // namespace tbench::kernels
