// Tests which of LibTorch's tensors our kernels refuse before they use a GPU.
#include "model/layers/flash_attention.hpp"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::model {
namespace {

constexpr FlashOptions kBf16Options{
    .causal = false, .scale = 0.125, .precision = Precision::kBf16, .deterministic = false};

at::Tensor operand(at::ScalarType type) { return at::zeros({1, 2, 16, 64}, at::TensorOptions{}.dtype(type)); }

std::string refusal_of_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  try {
    static_cast<void>(flash_forward(q, k, v, kBf16Options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(FlashAttention, RefusesAnotherDtypeThanThePrecisions) {
  const at::Tensor right = operand(at::kBFloat16);
  EXPECT_EQ(refusal_of_forward(operand(at::kFloat), right, right),
            "flash attention in bf16: q is Float, expected BFloat16: convert it with to()");
  EXPECT_THAT(refusal_of_forward(right, right, operand(at::kHalf)), testing::HasSubstr("v is Half, expected BFloat16"));
}

TEST(FlashAttention, RefusesRowsWhoseElementsDoNotLieSideBySide) {
  const at::Tensor right = operand(at::kBFloat16);
  const at::Tensor strided = at::zeros({1, 2, 64, 16}, right.options()).transpose(2, 3);
  EXPECT_EQ(refusal_of_forward(right, strided, right),
            "flash attention: the last dimension of k has stride 16, expected 1: call contiguous() first");
  EXPECT_THROW(static_cast<void>(flash_backward(right, right, strided, right, {.o = right, .lse = {}}, kBf16Options)),
               std::invalid_argument);
}

}  // namespace
}  // namespace tbench::model
