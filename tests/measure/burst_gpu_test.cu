// Tests bursts on a real GPU: the spin hides the host's work, short kernels are timed correctly, and cold caches differ
// from warm ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "fakes.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/cuda_event_timer.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {
namespace {

using testing::HasSubstr;

/// The number of CTAs. Together they read 512 KiB at a time, too little to reach a bandwidth limit: latency determines
/// the time.
constexpr int kReadBlocks = 256;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) read_kernel(const uint4* values, std::int64_t count, unsigned* last) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  unsigned offset = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    // The value that was read is part of the next address, so loads depend on one another.
    const uint4 value = values[i + offset];
    offset = value.x | value.y | value.z | value.w;
  }
  if (offset != 0) *last = offset;
}

/// Enqueues one reading of `zeros` ([count], device memory, all zero). A thread's loads depend on one another, so the
/// kernel takes some tens of latencies of the L2 cache or of the memory behind it.
/// @param last  device memory; written only if a value is not zero, so that the compiler keeps the loads
/// @throws  cuda::CudaError  if the launch fails
void launch_read(const uint4* zeros, std::int64_t count, unsigned* last, cudaStream_t stream) {
  read_kernel<<<kReadBlocks, kThreads, 0, stream>>>(zeros, count, last);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

constexpr double kShort = 20e-6;
constexpr std::size_t kBursts = 50;
/// Time in seconds that two events around a kernel add: its start and end, and the timer's resolution of 1 us.
constexpr double kOverhead = 6e-6;
constexpr std::int64_t kReadBytes = std::int64_t{16} << 20;

void launch_short(PhaseMarker& marker) {
  cuda::launch_spin({kShort}, nullptr);
  marker.mark();
}

class BurstOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "no GPU on this machine";
    }
    timer_.prepare(64, 1);
    cuda::launch_spin({1e-6}, nullptr);  // loads the kernel
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  /// Returns a launch before which the host is busy for `seconds`.
  Step after_host_work(double seconds) const {
    return [this, seconds](PhaseMarker& marker) {
      const Seconds end = timer_.now() + Seconds{seconds};
      while (timer_.now() < end) {
      }
      launch_short(marker);
    };
  }
  CudaEventTimer timer_;
};

TEST_F(BurstOnGpu, TimesAShortKernel) {
  for (const bool flush : {false, true}) {
    for (const std::size_t launches : {1U, 3U}) {
      timer_.begin_bursts({.phases = 1, .flush_l2 = flush});
      const Chunk chunk = timer_.time_bursts(kBursts, launches, launch_short, {});
      ASSERT_EQ(chunk.steps(), kBursts);
      EXPECT_EQ(chunk.launches, launches);
      const double time = stats::median(chunk.phase_seconds);
      RecordProperty(std::string{flush ? "cold_" : "warm_"} + std::to_string(launches) + "_us",
                     std::to_string(time * 1e6));
      EXPECT_GE(time, kShort) << flush << launches;
      EXPECT_LE(time, kShort + kOverhead) << flush << launches;
      EXPECT_FALSE(chunk.exposed);
      EXPECT_LT(chunk.escaped.value, 0.001);
    }
  }
  timer_.end_bursts();
}

TEST_F(BurstOnGpu, TheSpinHidesWhatTheHostDoes) {
  const Step slow = after_host_work(300e-6);
  // In a chained step, the first event passes at once, so the step's time includes the host's work.
  EXPECT_GE(timer_.time_steps(1, slow, {}).phase_seconds[0], 300e-6);
  timer_.begin_bursts({});
  const Chunk chunk = timer_.time_bursts(kBursts, 1, slow, {});
  EXPECT_FALSE(chunk.exposed);
  EXPECT_GE(*std::ranges::min_element(chunk.phase_seconds), kShort);
  EXPECT_LE(*std::ranges::max_element(chunk.phase_seconds), kShort + 2 * kOverhead);
  EXPECT_GE(chunk.enqueue.value, 300e-6 * kBursts);
  // Spins of 20, 40, 80 and 160 us are too short to hide the first launch.
  ASSERT_GE(chunk.made_again.size(), 4U);
  EXPECT_EQ(chunk.made_again[3], 3U);
}

TEST_F(BurstOnGpu, ALaunchThatWaitsForTheDeviceCannotBeHidden) {
  timer_.begin_bursts({});
  const Chunk chunk = timer_.time_bursts(2, 1,
                                         [](PhaseMarker& marker) {
                                           TBENCH_CUDA_CHECK(cudaStreamSynchronize(nullptr));
                                           launch_short(marker);
                                         },
                                         {});
  EXPECT_TRUE(chunk.exposed);
  EXPECT_GE(chunk.phase_seconds[0], kShort);
}

TEST_F(BurstOnGpu, PhasesAreTimedApart) {
  timer_.begin_bursts({.phases = 2});
  const Chunk chunk = timer_.time_bursts(kBursts, 2,
                                         [](PhaseMarker& marker) {
                                           launch_short(marker);
                                           cuda::launch_spin({3 * kShort}, nullptr);
                                           marker.mark();
                                         },
                                         {});
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 0; i < kBursts; ++i) {
    first.push_back(chunk.phase_seconds[2 * i]);
    second.push_back(chunk.phase_seconds[2 * i + 1]);
  }
  EXPECT_NEAR(stats::median(first), kShort + kOverhead / 2, kOverhead / 2);
  EXPECT_NEAR(stats::median(second), 3 * kShort + kOverhead / 2, kOverhead / 2);
}

TEST_F(BurstOnGpu, AFlushHoldsMemoryUntilItsEnd) {
  timer_.begin_bursts({.phases = 1, .flush_l2 = true});  // loads everything before the measurement
  timer_.end_bursts();
  const std::int64_t before = cuda::device_memory().used();
  timer_.begin_bursts({.phases = 1, .flush_l2 = true});
  EXPECT_GE(cuda::device_memory().used() - before, 2 * cuda::gpu_facts(nullptr).l2_bytes);
  timer_.end_bursts();
  EXPECT_EQ(cuda::device_memory().used(), before);
  EXPECT_THROW(static_cast<void>(timer_.time_bursts(1, 1, launch_short, {})), std::logic_error);
}

/// Reads kReadBytes, which fit into the L2 cache, at the latency of the cache.
class ReadCase final : public FakeCase {
 public:
  ReadCase() {
    TBENCH_CUDA_CHECK(cudaMemset(values_.get(), 0, static_cast<std::size_t>(kReadBytes)));
    on_launch = [this](std::int64_t) {
      launch_read(static_cast<const uint4*>(values_.get()), kReadBytes / static_cast<std::int64_t>(sizeof(uint4)),
                  static_cast<unsigned*>(last_.get()), nullptr);
    };
  }

 private:
  cuda::DeviceMemoryBlock values_{cuda::make_device_memory(static_cast<std::size_t>(kReadBytes))};
  cuda::DeviceMemoryBlock last_{cuda::make_device_memory(sizeof(unsigned))};
};

Record measure(Case& subject, L2State l2) {
  CudaEventTimer timer;
  NvmlClockMonitor monitor{cuda::current_nvml_device(cuda::load_nvml())};
  SamplerOptions options = burst_options();
  options.l2 = l2;
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  return measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, options, 1, {}, {}).at(0);
}

TEST_F(BurstOnGpu, ColdReadsTakeLongerThanWarmOnes) {
  if (cuda::gpu_facts(nullptr).l2_bytes < 2 * kReadBytes) {
    GTEST_SKIP() << "this GPU's L2 cache does not hold the buffer";
  }
  ReadCase subject;
  const Record cold = measure(subject, L2State::kCold);
  const Record warm = measure(subject, L2State::kWarm);
  ASSERT_TRUE(cold.timing.has_value()) << cold.reason;
  ASSERT_TRUE(warm.timing.has_value()) << warm.reason;
  RecordProperty("cold_us", std::to_string(cold.timing->median.value * 1e6));
  RecordProperty("warm_us", std::to_string(warm.timing->median.value * 1e6));
  EXPECT_EQ(cold.timing->l2, L2State::kCold);
  EXPECT_EQ(warm.timing->l2, L2State::kWarm);
  // The latency of memory is about twice the L2 latency. The kernel's start and end are short compared with 32
  // such latencies.
  EXPECT_GT(cold.timing->median.value, 1.3 * warm.timing->median.value);
}

TEST_F(BurstOnGpu, TheSamplerMakesSamplesOfFiftyMicroseconds) {
  FakeCase subject;
  subject.on_launch = [](std::int64_t) { cuda::launch_spin({4e-6}, nullptr); };
  for (const L2State l2 : {L2State::kCold, L2State::kWarm}) {
    const Record record = measure(subject, l2);
    ASSERT_EQ(record.status, Status::kOk) << record.reason;
    const Timing& timing = *record.timing;
    RecordProperty(std::string{to_string(l2)} + "_us", std::to_string(timing.median.value * 1e6));
    EXPECT_EQ(timing.regime, Regime::kBurst);
    EXPECT_GE(timing.median.value * static_cast<double>(timing.launches_per_sample), 45e-6);
    EXPECT_GE(timing.launches_per_sample, 5);
    EXPECT_TRUE(timing.resolution_limited);
    EXPECT_FALSE(timing.host_bound);
    EXPECT_GE(timing.samples_s.size(), 30U);
    EXPECT_LE(timing.samples_s.size(), 2000U);
  }
}

TEST_F(BurstOnGpu, WorkOnAStreamThatNobodyJoinsIsIncorrect) {
  const cuda::Stream other = cuda::make_non_blocking_stream();
  FakeCase subject;
  subject.on_launch = [&](std::int64_t) { cuda::launch_spin({200e-6}, other.get()); };
  const Record record = measure(subject, L2State::kCold);
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_THAT(record.reason, HasSubstr("the timed region does not contain the work"));
}

}  // namespace
}  // namespace tbench::measure
