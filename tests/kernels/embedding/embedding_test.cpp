// Tests refusals of the embedding's launch functions, which need no GPU.
#include "tbench/kernels/embedding.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tbench::kernels {
namespace {

TEST(Embedding, ExtentsAndPointersAreChecked) {
  const std::int64_t token{};
  const float value{};
  float written{};
  for (const EmbeddingShape& shape : {EmbeddingShape{0, 4, 4}, EmbeddingShape{4, 0, 4}, EmbeddingShape{4, 4, 0},
                                      EmbeddingShape{4, std::int64_t{1} << 30, std::int64_t{1} << 11}}) {
    EXPECT_THROW(embedding_forward(shape, &token, &value, &written, nullptr), std::invalid_argument);
    EXPECT_THROW(embedding_backward(shape, &token, &value, &written, nullptr), std::invalid_argument);
    EXPECT_THROW(embedding_backward_add(shape, &token, &value, &written, nullptr), std::invalid_argument);
  }
  EXPECT_THROW(embedding_forward({4, 4, 4}, nullptr, &value, &written, nullptr), std::invalid_argument);
  EXPECT_THROW(embedding_forward({4, 4, 4}, &token, nullptr, &written, nullptr), std::invalid_argument);
  EXPECT_THROW(embedding_backward({4, 4, 4}, &token, &value, nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(embedding_backward_add({4, 4, 4}, &token, &value, nullptr, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::kernels
