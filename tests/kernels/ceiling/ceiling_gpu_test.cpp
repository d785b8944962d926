// Tests the streaming kernels on a GPU: every word is moved, in every grid, and nothing beyond the buffers is changed.
#include <gtest/gtest.h>

#include <random>

#include "support/device_tensor.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/kernels/ceiling.hpp"

namespace tbench::kernels {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::size_t kGuardWords = 64;
constexpr std::uint32_t kPoison = 0xfff5a5a5;

Words random_words(std::int64_t bytes, unsigned seed) {
  std::mt19937 random{seed};
  Words words(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

/// Words on the device, followed by guards.
class GuardedWords {
 public:
  explicit GuardedWords(const Words& words) : count_{words.size()}, memory_{bytes(words.size() + kGuardWords)} {
    Words all = words;
    all.resize(count_ + kGuardWords, kPoison);
    TBENCH_CUDA_CHECK(cudaMemcpy(memory_.data(), all.data(), bytes(all.size()), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::uint32_t* data() const { return reinterpret_cast<std::uint32_t*>(memory_.data()); }
  /// Returns the words; fails if a guard was overwritten. Synchronises.
  [[nodiscard]] Words read() const {
    Words all(count_ + kGuardWords);
    TBENCH_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), bytes(all.size()), cudaMemcpyDeviceToHost));
    for (std::size_t i = count_; i < all.size(); ++i) EXPECT_EQ(all[i], kPoison) << "guard " << i - count_;
    all.resize(count_);
    return all;
  }

 private:
  static std::size_t bytes(std::size_t words) { return words * sizeof(std::uint32_t); }
  std::size_t count_;
  DeviceBytes memory_;
};

/// Returns the grids that autotuning tries, and odd ones: fewer CTAs than tiles, more CTAs than tiles, and one CTA.
std::vector<StreamGrid> all_grids(std::int64_t bytes) {
  std::vector<StreamGrid> grids = stream_grids(bytes, 132, true);
  for (const int threads : {32, 64, 128, 256, 512}) {
    for (const int blocks : {1, 3, 1000}) grids.push_back({.threads = threads, .blocks = blocks});
  }
  return grids;
}

class StreamOnGpu : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
  [[nodiscard]] static std::int64_t bytes() { return GetParam() * kStreamGranularity; }
};

TEST_P(StreamOnGpu, CopiesEveryWordAndNoOther) {
  const Words from = random_words(bytes(), 1);
  const GuardedWords source{from};
  for (const StreamGrid& grid : all_grids(bytes())) {
    const GuardedWords target{Words(from.size(), kPoison)};
    copy_stream(target.data(), source.data(), bytes(), grid, nullptr);
    EXPECT_EQ(target.read(), from) << grid.blocks << " x " << grid.threads;
  }
}

TEST_P(StreamOnGpu, WritesThePatternOverAndOver) {
  const Words pattern = random_words(kStreamPatternBytes, 2);
  const GuardedWords source{pattern};
  Words expected;
  for (std::int64_t i = 0; i < GetParam(); ++i) expected.insert(expected.end(), pattern.begin(), pattern.end());
  for (const StreamGrid& grid : all_grids(bytes())) {
    const GuardedWords target{Words(expected.size(), kPoison)};
    write_stream(target.data(), source.data(), bytes(), grid, nullptr);
    EXPECT_EQ(target.read(), expected) << grid.blocks << " x " << grid.threads;
  }
}

TEST_P(StreamOnGpu, ReadsEveryWordInEveryPass) {
  const Words from = random_words(bytes(), 3);
  const GuardedWords source{from};
  std::uint32_t expected = 0;
  for (const std::uint32_t word : from) expected += word;
  for (const StreamGrid& grid : all_grids(bytes())) {
    for (const int passes : {1, 2, 7}) {
      const GuardedWords sums{Words(static_cast<std::size_t>(grid.blocks), kPoison)};
      read_stream(sums.data(), source.data(), bytes(), passes, grid, nullptr);
      std::uint32_t total = 0;
      for (const std::uint32_t sum : sums.read()) total += sum;
      EXPECT_EQ(total, expected * static_cast<std::uint32_t>(passes))
          << grid.blocks << " x " << grid.threads << ", " << passes << " passes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, StreamOnGpu, testing::Values(1, 2, 67));

TEST(IncrementOnGpu, CountsLaunches) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const GuardedWords counter{{41}};
  increment(counter.data(), nullptr);
  increment(counter.data(), nullptr);
  EXPECT_EQ(counter.read(), Words{43});
  increment_after(1000, 264, counter.data(), nullptr);
  EXPECT_EQ(counter.read(), Words{44});
}

}  // namespace
}  // namespace tbench::kernels
