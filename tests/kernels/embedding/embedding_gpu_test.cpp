// Compares the embedding's kernels with the host: rows are copied and gradients added, with and without vectors.
#include "tbench/kernels/embedding.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/device_array.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::kernels {
namespace {

struct Extents {
  std::int64_t tokens, vocab_size, width;
  std::int64_t offset{};  // in elements
};

const std::vector<Extents> kExtents{{1, 1, 1}, {7, 3, 4}, {64, 10, 33}, {100, 50, 768}, {33, 5, 2052}, {20, 9, 64, 1}};

class EmbeddingOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }
};

/// Tokens in device memory. Every token of the vocabulary except the last occurs, some more than once.
class Tokens {
 public:
  explicit Tokens(const std::vector<std::int64_t>& tokens)
      : memory_{cuda::make_device_memory(tokens.size() * sizeof(std::int64_t))} {
    TBENCH_CUDA_CHECK(
        cudaMemcpy(memory_.get(), tokens.data(), tokens.size() * sizeof(std::int64_t), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] const std::int64_t* data() const { return static_cast<const std::int64_t*>(memory_.get()); }

 private:
  cuda::DeviceMemoryBlock memory_;
};

std::vector<std::int64_t> tokens_of(const Extents& extents) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < extents.tokens; ++i) {
    tokens.push_back(i * i % std::max<std::int64_t>(extents.vocab_size - 1, 1));
  }
  return tokens;
}

TEST_P(EmbeddingOnGpu, RowsAreThoseOfTheTokens) {
  for (const Extents& extents : kExtents) {
    const Doubles values = normal_values(extents.vocab_size * extents.width, GetParam(), 1);
    const std::vector<std::int64_t> tokens = tokens_of(extents);
    const DeviceArray table{values, GetParam(), extents.offset};
    const DeviceArray rows{extents.tokens * extents.width, GetParam(), extents.offset};
    embedding_forward({extents.tokens, extents.vocab_size, extents.width, GetParam()}, Tokens{tokens}.data(),
                      table.data(), rows.data(), nullptr);
    Doubles expected;
    for (const std::int64_t token : tokens) {
      for (std::int64_t j = 0; j < extents.width; ++j) {
        expected.push_back(values[static_cast<std::size_t>(token * extents.width + j)]);
      }
    }
    expect_close(fmt::format("rows of {} x {}", extents.vocab_size, extents.width), rows.read(), expected,
                 [](std::size_t) { return 0.0; });
  }
}

TEST_P(EmbeddingOnGpu, GradientsOfAWordAreAddedAndOthersAreZero) {
  for (const Extents& extents : kExtents) {
    const Doubles values = normal_values(extents.tokens * extents.width, GetParam(), 2);
    const std::vector<std::int64_t> tokens = tokens_of(extents);
    const DeviceArray drows{values, GetParam(), extents.offset};
    const DeviceArray dtable{extents.vocab_size * extents.width, GetParam(), extents.offset};
    embedding_backward({extents.tokens, extents.vocab_size, extents.width, GetParam()}, Tokens{tokens}.data(),
                       drows.data(), dtable.data(), nullptr);
    Doubles expected(static_cast<std::size_t>(dtable.count()), 0.0), magnitude = expected;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      for (std::int64_t j = 0; j < extents.width; ++j) {
        const auto at = static_cast<std::size_t>(tokens[i] * extents.width + j);
        const double value = values[i * static_cast<std::size_t>(extents.width) + static_cast<std::size_t>(j)];
        expected[at] += value;
        magnitude[at] += std::abs(value);
      }
    }
    expect_close(
        fmt::format("gradients of {} x {}", extents.vocab_size, extents.width), dtable.read(), expected,
        [&](std::size_t i) { return magnitude[i] * round_off(GetParam()) * static_cast<double>(extents.tokens); });
  }
}

TEST_P(EmbeddingOnGpu, GradientsAreAddedToATableThatHoldsAnotherPart) {
  for (const Extents& extents : kExtents) {
    const Doubles values = normal_values(extents.tokens * extents.width, GetParam(), 4),
                  before = normal_values(extents.vocab_size * extents.width, GetParam(), 5);
    const std::vector<std::int64_t> tokens = tokens_of(extents);
    const DeviceArray drows{values, GetParam(), extents.offset}, dtable{before, GetParam(), extents.offset};
    embedding_backward_add({extents.tokens, extents.vocab_size, extents.width, GetParam()}, Tokens{tokens}.data(),
                           drows.data(), dtable.data(), nullptr);
    Doubles expected = before, magnitude(before.size(), 0.0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      for (std::int64_t j = 0; j < extents.width; ++j) {
        const auto at = static_cast<std::size_t>(tokens[i] * extents.width + j);
        const double value = values[i * static_cast<std::size_t>(extents.width) + static_cast<std::size_t>(j)];
        expected[at] += value;
        magnitude[at] += std::abs(value) + std::abs(before[at]);
      }
    }
    expect_close(
        fmt::format("sums of {} x {}", extents.vocab_size, extents.width), dtable.read(), expected,
        [&](std::size_t i) { return magnitude[i] * round_off(GetParam()) * static_cast<double>(extents.tokens); });
  }
}

TEST_P(EmbeddingOnGpu, ATokenOutsideTheVocabularyReadsNaNAndAddsNothing) {
  const Tokens tokens{{2, -1, 0, 3}};
  const Doubles values = normal_values(3 * 8, GetParam(), 3);
  const DeviceArray table{values, GetParam()}, rows{4 * 8, GetParam()}, dtable{3 * 8, GetParam()};
  embedding_forward({4, 3, 8, GetParam()}, tokens.data(), table.data(), rows.data(), nullptr);
  const Doubles read = rows.read();
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(std::isnan(read[i]), i / 8 == 1 || i / 8 == 3) << i;
  embedding_backward({4, 3, 8, GetParam()}, tokens.data(), DeviceArray{Doubles(4 * 8, 1.0), GetParam()}.data(),
                     dtable.data(), nullptr);
  const Doubles gradients = dtable.read();
  for (std::size_t i = 0; i < gradients.size(); ++i) EXPECT_EQ(gradients[i], i / 8 == 1 ? 0.0 : 1.0) << i;
}

INSTANTIATE_TEST_SUITE_P(Precisions, EmbeddingOnGpu,
                         testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::kernels
