// Tests refusals of the launch functions for the norms of q and k, which need no GPU.
#include "tbench/kernels/qk_norm_rope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::HasSubstr;

class QkNormRopeRefusal : public testing::Test {
 protected:
  [[nodiscard]] std::string refusal() const {
    try {
      qk_norm_rope_forward(shape_, forward_, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  alignas(16) float values_[64]{};
  QkNormRopeShape shape_{
      .tokens = 2, .seq = 2, .heads = 2, .kv_heads = 1, .head_dim = 8, .precision = Precision::kBf16, .epsilon = 1e-5F};
  QkNormRopeForward forward_{.constants = {.q_weight = values_, .k_weight = values_, .cos = values_, .sin = values_},
                             .x = {.data = values_, .stride = 32},
                             .y = {.data = values_, .stride = 24}};
};

TEST_F(QkNormRopeRefusal, OfExtents) {
  shape_.head_dim = 7;
  EXPECT_THAT(refusal(), HasSubstr("head_dim is 7; pairs turn"));
  shape_.head_dim = 258;
  EXPECT_THAT(refusal(), HasSubstr("head_dim is 258; expected 2 to 256"));
  shape_.head_dim = 8;
  shape_.kv_heads = 0;
  EXPECT_THAT(refusal(), HasSubstr("kv_heads is 0"));
  shape_.kv_heads = 1;
  shape_.tokens = std::int64_t{1} << 29;
  EXPECT_THAT(refusal(), HasSubstr("head_dim is 8; expected 2 to 2"));
}

TEST_F(QkNormRopeRefusal, OfRows) {
  forward_.y.stride = 22;
  EXPECT_THAT(refusal(), HasSubstr("a stride is 22; expected 24 to"));
  forward_.y.stride = 25;
  EXPECT_THAT(refusal(), HasSubstr("do not begin at a pair's address"));
  forward_.y.stride = 24;
  forward_.x.data = reinterpret_cast<char*>(values_) + 2;
  EXPECT_THAT(refusal(), HasSubstr("do not begin at a pair's address"));
}

TEST_F(QkNormRopeRefusal, OfNullPointersAndTf32) {
  forward_.constants.k_weight = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("null"));
  forward_.constants.k_weight = values_;
  forward_.x.data = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("null"));
  forward_.x.data = values_;
  shape_.precision = Precision::kTf32;
  EXPECT_THAT(refusal(), HasSubstr("not a storage type"));
  EXPECT_THROW(qk_norm_rope_backward(shape_, {.constants = forward_.constants}, nullptr), std::invalid_argument);
}

TEST_F(QkNormRopeRefusal, OfSharesWithoutADestination) {
  const QkNormShares layer{.workspace = values_, .dq_weight = values_, .dk_weight = nullptr};
  EXPECT_THROW(qk_norm_weight_gradients(shape_, {&layer, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::kernels
