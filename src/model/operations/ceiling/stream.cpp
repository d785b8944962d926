// Memory bandwidth: copies, reads and writes of large buffers, and reads from L2. On a GPU, building the case autotunes
// over several grids of our kernels and takes the fastest; the copy may also be cudaMemcpyAsync.
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "model/operations/ceiling/parts.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/ceiling.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kFloatBytes = 4;

/// The common part of the bandwidth ceilings: it runs the fastest candidate.
class StreamCeiling : public OperationCase {
 public:
  explicit StreamCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    return device_unsupported_reason(config_.device, Precision::kFp32);
  }
  [[nodiscard]] std::map<std::string, std::string> labels() override { return {{"implementation", chosen_.name}}; }

 protected:
  [[nodiscard]] const CeilingConfig& config() const { return config_; }
  [[nodiscard]] bool is_on_gpu() const { return config_.device == DeviceKind::kCuda; }
  [[nodiscard]] std::int64_t stream_bytes() const { return ceiling_sizes(config_).stream_bytes; }
  [[nodiscard]] at::Tensor normal(std::int64_t bytes, std::uint64_t index) const {
    return seeded_normal({bytes / kFloatBytes}, at::kFloat, config_.device, config_.seed, index);
  }
  /// Returns our kernel in every grid that is worth trying.
  template <class Launch>
  [[nodiscard]] static std::vector<Candidate> kernels_of(std::int64_t bytes, bool stores, const Launch& launch) {
    const int multiprocessors = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    std::vector<Candidate> candidates;
    for (const kernels::StreamGrid& grid : kernels::stream_grids(bytes, multiprocessors, stores)) {
      candidates.push_back({.name = fmt::format("kernel, {} x {} threads{}", grid.blocks, grid.threads,
                                                grid.keeps_in_cache ? ", kept in cache" : ""),
                            .launch = [launch, grid] { launch(grid, c10::cuda::getCurrentCUDAStream()); }});
    }
    return candidates;
  }
  void choose(std::vector<Candidate> candidates) { chosen_ = fastest_of(std::move(candidates)); }
  void enqueue() override { chosen_.launch(); }

 private:
  CeilingConfig config_;
  Candidate chosen_;
};

class CopyCeiling final : public StreamCeiling {
 public:
  using StreamCeiling::StreamCeiling;
  [[nodiscard]] std::int64_t min_bytes() const override { return 2 * stream_bytes(); }
  [[nodiscard]] Work work() const override { return {.flop = {}, .tokens = 0, .bytes = 2 * stream_bytes()}; }

 private:
  void do_build() override {
    const std::int64_t bytes = stream_bytes();
    from_ = normal(bytes, 0);
    to_ = at::empty_like(from_);
    void* const to = to_.mutable_data_ptr();
    const void* const from = from_.const_data_ptr();
    if (!is_on_gpu()) {
      return choose({{"memcpy", [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }}});
    }
    std::vector<Candidate> candidates = kernels_of(bytes, true, [=](const auto& grid, cudaStream_t stream) {
      kernels::copy_stream(to, from, bytes, grid, stream);
    });
    candidates.push_back({"cudaMemcpyAsync", [=] {
                            TBENCH_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                                                              cudaMemcpyDeviceToDevice,
                                                              c10::cuda::getCurrentCUDAStream()));
                          }});
    choose(std::move(candidates));
  }
  Verification do_verify() override {
    to_.fill_(std::numeric_limits<float>::quiet_NaN());
    enqueue();
    return verify_equal("copy", to_, from_, "the buffer that was copied, bit by bit");
  }

  at::Tensor from_, to_;  // [stream_bytes / 4]
};

class WriteCeiling final : public StreamCeiling {
 public:
  using StreamCeiling::StreamCeiling;
  [[nodiscard]] std::int64_t min_bytes() const override { return stream_bytes(); }
  [[nodiscard]] Work work() const override { return {.flop = {}, .tokens = 0, .bytes = stream_bytes()}; }

 private:
  void do_build() override {
    const std::int64_t bytes = stream_bytes();
    constexpr std::int64_t kPattern = kernels::kStreamPatternBytes;
    pattern_ = normal(kPattern, 0);
    to_ = at::empty({bytes / kFloatBytes}, pattern_.options());
    auto* const to = static_cast<std::byte*>(to_.mutable_data_ptr());
    const void* const pattern = pattern_.const_data_ptr();
    if (!is_on_gpu()) {
      return choose({{"memcpy of a pattern", [=] {
                        for (std::int64_t begin = 0; begin < bytes; begin += kPattern) {
                          std::memcpy(to + begin, pattern, static_cast<std::size_t>(kPattern));
                        }
                      }}});
    }
    choose(kernels_of(bytes, true, [=](const auto& grid, cudaStream_t stream) {
      kernels::write_stream(to, pattern, bytes, grid, stream);
    }));
  }
  Verification do_verify() override {
    to_.fill_(std::numeric_limits<float>::quiet_NaN());
    enqueue();
    const at::Tensor written = to_.view({-1, pattern_.numel()});
    return verify_equal("written", written, pattern_.expand_as(written), "the pattern, bit by bit");
  }

  at::Tensor pattern_;  // [2^13]: 32 KiB of normal values, written again and again
  at::Tensor to_;       // [stream_bytes / 4]
};

/// Returns the sum of 32-bit words modulo 2^32, which does not depend on the order.
std::uint32_t sum_of_words(std::span<const std::uint32_t> words) {
  std::uint32_t sum = 0;
  for (const std::uint32_t word : words) sum += word;
  return sum;
}

class ReadCeiling final : public StreamCeiling {
 public:
  ReadCeiling(CeilingConfig config, bool from_l2) : StreamCeiling{std::move(config)}, from_l2_{from_l2} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    return from_l2_ ? needs_gpu_reason(config()) : StreamCeiling::unsupported_reason();
  }
  [[nodiscard]] std::int64_t min_bytes() const override { return from_l2_ ? 0 : stream_bytes(); }
  [[nodiscard]] Work work() const override {
    return {.flop = {}, .tokens = 0, .bytes = buffer_bytes() * passes(buffer_bytes())};
  }

 private:
  /// Returns the bytes of the buffer. A read from L2 uses a quarter of L2, so that the buffer fits twice into one half:
  /// the two halves of a large L2 each keep a copy of the data that their own SMs read.
  [[nodiscard]] std::int64_t buffer_bytes() const {
    if (!from_l2_) return stream_bytes();
    const std::int64_t quarter = at::cuda::getCurrentDeviceProperties()->l2CacheSize / 4;
    return quarter / kernels::kStreamGranularity * kernels::kStreamGranularity;
  }
  /// Returns the number of passes over the buffer. A read from L2 makes enough passes to read 1 GiB, for which the
  /// kernel's start takes little time.
  [[nodiscard]] int passes(std::int64_t bytes) const {
    constexpr std::int64_t kRead = std::int64_t{1} << 30;
    return from_l2_ ? static_cast<int>((kRead + bytes - 1) / bytes) : 1;
  }

  void do_build() override {
    const std::int64_t bytes = buffer_bytes();
    from_ = normal(bytes, 0);
    // Our kernel writes one sum per block. There are at most as many blocks as tiles of 256 threads.
    sums_ = at::zeros({is_on_gpu() ? bytes / (kernels::kStreamGranularity / 2) : 1}, from_.options().dtype(at::kInt));
    const auto* const from = static_cast<const std::uint32_t*>(from_.const_data_ptr());
    auto* const sums = reinterpret_cast<std::uint32_t*>(sums_.mutable_data_ptr<std::int32_t>());
    if (!is_on_gpu()) {
      const std::span words{from, static_cast<std::size_t>(bytes / kFloatBytes)};
      return choose({{"one thread", [=] { *sums = sum_of_words(words); }}});
    }
    choose(kernels_of(bytes, false, [=, count = passes(bytes)](const auto& grid, cudaStream_t stream) {
      kernels::read_stream(sums, from, bytes, count, grid, stream);
    }));
  }
  Verification do_verify() override {
    sums_.zero_();  // the sum of a block that writes nothing is then missing from the total
    enqueue();
    const auto total = [](const at::Tensor& words) {
      return static_cast<std::uint32_t>(at::sum(words, at::kLong).item<std::int64_t>());
    };
    const auto expected =
        static_cast<std::uint32_t>(total(from_.view(at::kInt)) * static_cast<std::uint32_t>(passes(buffer_bytes())));
    const std::uint32_t actual = total(sums_);
    Verification result{.passed = actual == expected,
                        .reference = "the sum of all 32-bit words modulo 2^32, in 64-bit integers",
                        .worst_error = actual == expected ? 0 : kWorstErrorCap,
                        .worst_where = {},
                        .message = {}};
    if (!result.passed) result.message = fmt::format("the sum is {:#010x}, the reference {:#010x}", actual, expected);
    return result;
  }

  bool from_l2_;
  at::Tensor from_;  // [buffer_bytes / 4]
  at::Tensor sums_;  // int32
};

}  // namespace

std::unique_ptr<Case> make_stream_ceiling(const CeilingConfig& config) {
  if (config.what == "copy") return std::make_unique<CopyCeiling>(config);
  if (config.what == "write") return std::make_unique<WriteCeiling>(config);
  return std::make_unique<ReadCeiling>(config, /*from_l2=*/config.what == "l2_read");
}

}  // namespace tbench::model
