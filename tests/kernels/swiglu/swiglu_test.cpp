// Tests refusals of SwiGLU's host code, without a GPU.
#include "tbench/kernels/swiglu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::HasSubstr;

class SwigluRefusal : public testing::Test {
 protected:
  float value_{};
  SwigluShape shape_{.rows = 2, .width = 8, .precision = Precision::kBf16};
  SwigluBackward tensors_{
      .inputs = {&value_, &value_, 16}, .dh = &value_, .gradients = {&value_, &value_, 16}, .h = nullptr};

  [[nodiscard]] std::string forward(void* h) const {
    try {
      swiglu_forward(shape_, tensors_.inputs, h, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string backward() const {
    try {
      swiglu_backward(shape_, tensors_, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(SwigluRefusal, OfExtents) {
  shape_.rows = 0;
  EXPECT_THAT(forward(&value_), HasSubstr("rows is 0"));
  shape_ = {.rows = 1 << 20, .width = 1 << 12, .precision = Precision::kBf16};  // 2^32 elements
  EXPECT_THAT(forward(&value_), HasSubstr("the width is 4096; expected 1 to 4095"));
  shape_ = {.rows = 1, .width = 0, .precision = Precision::kBf16};
  EXPECT_THAT(backward(), HasSubstr("the width is 0"));
}

TEST_F(SwigluRefusal, OfRowsThatOverlap) {
  tensors_.inputs.stride = 7;
  EXPECT_THAT(forward(&value_), HasSubstr("a stride is 7; expected 8"));
  EXPECT_THAT(backward(), HasSubstr("a stride is 7"));
  tensors_.inputs.stride = 16;
  tensors_.gradients.stride = 7;
  EXPECT_THAT(backward(), HasSubstr("a stride is 7"));
}

TEST_F(SwigluRefusal, OfNullPointersAndTf32) {
  EXPECT_THAT(forward(nullptr), HasSubstr("null"));
  tensors_.dh = nullptr;
  EXPECT_THAT(backward(), HasSubstr("null"));
  tensors_.dh = &value_;
  tensors_.gradients.up = nullptr;
  EXPECT_THAT(backward(), HasSubstr("null"));
  shape_.precision = Precision::kTf32;
  EXPECT_THAT(forward(&value_), HasSubstr("tf32 is not a storage type"));
}

}  // namespace
}  // namespace tbench::kernels
