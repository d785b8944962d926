// Tests how the LM head is divided into chunks: the rows of a chunk, the memory that chunks save, the type of the
// weight's gradient, and the extents that are refused.
#include "model/fused/chunked_head.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "model/operations/kernels/linear_cross_entropy.hpp"
#include "tbench/core/model_size.hpp"

namespace tbench::model {
namespace {

/// The head of llama3.1-8B.
HeadShape head_of(std::int64_t tokens, Precision precision = Precision::kBf16) {
  return {.tokens = tokens, .d_model = 4096, .vocab_size = 128'256, .precision = precision};
}

TEST(ChunkedHead, RowsAreDividedIfTheyAreMoreThanAChunkAndTheWidthOfTheWeight) {
  EXPECT_EQ(head_chunks(head_of(1)), (HeadChunks{.rows = 1, .count = 1}));
  EXPECT_EQ(head_chunks(head_of(2048)), (HeadChunks{.rows = 2048, .count = 1}));
  EXPECT_EQ(head_chunks(head_of(4096 + 2048)), (HeadChunks{.rows = 6144, .count = 1}));
  EXPECT_EQ(head_chunks(head_of(4096 + 2048 + 1)), (HeadChunks{.rows = 2048, .count = 4}));
  EXPECT_EQ(head_chunks(head_of(8192)), (HeadChunks{.rows = 2048, .count = 4}));
  EXPECT_EQ(head_chunks(head_of(8193)), (HeadChunks{.rows = 2048, .count = 5}));
  EXPECT_EQ(head_chunks(head_of(32'768)), (HeadChunks{.rows = 2048, .count = 16}));
}

TEST(ChunkedHead, ChunksSaveLogitsAndPayForAFloat32Gradient) {
  EXPECT_EQ(head_chunk_savings(head_of(6144)), 0);
  EXPECT_EQ(head_chunk_savings(head_of(6145)), std::int64_t{2} * 128'256);
  // 6,144 rows of logits in bf16 fewer, and two bytes more for each of 4,096 x 128,256 elements of the gradient.
  EXPECT_EQ(head_chunk_savings(head_of(8192)), std::int64_t{6144 - 4096} * 128'256 * 2);
  // The gradient is float32 in one chunk, too.
  EXPECT_EQ(head_chunk_savings(head_of(8192, Precision::kFp16)), std::int64_t{6144} * 128'256 * 2);
  EXPECT_EQ(head_chunk_savings(head_of(8192, Precision::kTf32)), std::int64_t{6144} * 128'256 * 4);
}

TEST(ChunkedHead, TheGradientOfTheWeightIsFloat32IfChunksAreAddedUp) {
  EXPECT_EQ(head_gradient_type(head_of(6144)), at::kBFloat16);
  EXPECT_EQ(head_gradient_type(head_of(8192)), at::kFloat);
  for (const Precision precision : {Precision::kFp16, Precision::kFp32, Precision::kTf32}) {
    EXPECT_EQ(head_gradient_type(head_of(2048, precision)), at::kFloat) << to_string(precision);
  }
}

TEST(ChunkedHead, StepsOfTheCourseHaveAllLogitsAtOnce) {
  for (const ModelSize& size : course_model_sizes()) {
    EXPECT_FALSE(step_divides_head({.tokens = std::int64_t{4} * 1024,
                                    .d_model = size.d_model,
                                    .vocab_size = size.vocab_size,
                                    .precision = Precision::kBf16}))
        << size.name;
  }
}

TEST(ChunkedHead, StepsOfLongContextsAndLargeVocabulariesAreDivided) {
  EXPECT_FALSE(step_divides_head(head_of(4096)));
  EXPECT_TRUE(step_divides_head(head_of(8192)));
  EXPECT_TRUE(step_divides_head(head_of(32'768)));
  // 256 MiB and one row of words less.
  const HeadShape shape{
      .tokens = 2048 + 1024 + 4096, .d_model = 1024, .vocab_size = 32'768, .precision = Precision::kBf16};
  EXPECT_TRUE(step_divides_head(shape));
  HeadShape shorter = shape;
  --shorter.tokens;
  EXPECT_FALSE(step_divides_head(shorter));
}

TEST(ChunkedHead, ExtentsThatAreNotPositiveAreRefused) {
  for (std::int64_t HeadShape::*const extent : {&HeadShape::tokens, &HeadShape::d_model, &HeadShape::vocab_size}) {
    HeadShape shape = head_of(8192);
    shape.*extent = 0;
    EXPECT_THROW(static_cast<void>(head_chunks(shape)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(head_chunk_savings(shape)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(head_gradient_type(shape)), std::invalid_argument);
  }
}

TEST(ChunkedHead, NoMoreLogitsAreHeldThanAChunkHas) {
  KernelOperands operands{.config = {.op = "linear_cross_entropy",
                                     .size = {.name = "narrow", .d_model = 8, .num_heads = 1, .vocab_size = 12},
                                     .context = 2500,
                                     .batch = 2,
                                     .precision = Precision::kBf16,
                                     .impl = "fused",
                                     .device = DeviceKind::kCpu},
                          .inputs = {},
                          .gradients = {},
                          .saved = {}};
  kernel_ops().at("linear_cross_entropy").fill(operands);
  const HeadResults results =
      make_head_results(operands, {.tokens = 5000, .d_model = 8, .vocab_size = 12, .precision = Precision::kBf16});
  EXPECT_EQ(results.logits.sizes(), (std::vector<std::int64_t>{2048, 12}));
  EXPECT_EQ(results.dx.sizes(), (std::vector<std::int64_t>{5000, 8}));
  EXPECT_EQ(results.dx.scalar_type(), at::kBFloat16);
  EXPECT_EQ(results.dweight.sizes(), (std::vector<std::int64_t>{12, 8}));
  EXPECT_EQ(results.dweight.scalar_type(), at::kFloat);
  EXPECT_EQ(results.losses.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace tbench::model
