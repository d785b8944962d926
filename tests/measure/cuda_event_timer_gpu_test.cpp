// Tests the event timer on a real GPU with kernels of known duration.
#include "tbench/measure/cuda_event_timer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "fakes.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {
namespace {

using testing::HasSubstr;

constexpr double kSpin = 0.002;
constexpr std::size_t kSteps = 20;

void spin_and_mark(PhaseMarker& marker) {
  cuda::launch_spin({kSpin}, nullptr);
  marker.mark();
}

class CudaEventTimerOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "no GPU on this machine";
    }
    timer_.prepare(64, 1);
    // Loads the kernel, so that the first step of a test does not include loading.
    cuda::launch_spin({1e-6}, nullptr);
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  CudaEventTimer timer_;
};

TEST_F(CudaEventTimerOnGpu, TimesAKnownKernel) {
  const Chunk chunk = timer_.time_steps(kSteps, spin_and_mark, {});
  ASSERT_EQ(chunk.steps(), kSteps);
  EXPECT_NEAR(stats::median(chunk.phase_seconds), kSpin, 0.05 * kSpin);
  EXPECT_NEAR(chunk.wall.value, kSpin * kSteps, 0.05 * kSpin * kSteps);
  EXPECT_LT(chunk.enqueue.value, 0.5 * chunk.wall.value);
  EXPECT_LT(chunk.escaped.value, 0.001);
  EXPECT_GT(chunk.cpu.value, 0.0);
}

TEST_F(CudaEventTimerOnGpu, PhasesAddUp) {
  timer_.prepare(kSteps, 3);
  const Chunk chunk = timer_.time_steps(kSteps,
                                        [](PhaseMarker& marker) {
                                          for (const double share : {1.0, 2.0, 3.0}) {
                                            cuda::launch_spin({share * kSpin}, nullptr);
                                            marker.mark();
                                          }
                                        },
                                        {});
  ASSERT_EQ(chunk.steps(), kSteps);
  std::vector<double> steps;
  std::vector<double> second_phases;
  for (std::size_t step = 0; step < kSteps; ++step) {
    steps.push_back(chunk.step_seconds(step));
    second_phases.push_back(chunk.phase_seconds[step * 3 + 1]);
  }
  EXPECT_NEAR(stats::median(second_phases), 2.0 * kSpin, 0.1 * kSpin);
  EXPECT_NEAR(stats::median(steps), 6.0 * kSpin, 0.3 * kSpin);
}

TEST_F(CudaEventTimerOnGpu, ReadingClocksDoesNotLengthenTheTimes) {
  const Chunk chunk = timer_.time_steps(2, spin_and_mark, [&] { timer_.wait({0.1}); });
  EXPECT_NEAR(chunk.wall.value, 2 * kSpin, 0.25 * kSpin);
  EXPECT_LT(chunk.escaped.value, 0.001);
}

TEST_F(CudaEventTimerOnGpu, EarlierWorkIsNotInTheRegion) {
  cuda::launch_spin({0.05}, nullptr);
  const Chunk chunk = timer_.time_steps(2, spin_and_mark, {});
  EXPECT_NEAR(chunk.phase_seconds[0], kSpin, 0.25 * kSpin);
  EXPECT_LT(chunk.wall.value, 0.02);
}

TEST_F(CudaEventTimerOnGpu, WorkOnAnUnjoinedStreamEscapes) {
  const cuda::Stream other = cuda::make_non_blocking_stream();
  const Chunk chunk = timer_.time_steps(kSteps,
                                        [&](PhaseMarker& marker) {
                                          cuda::launch_spin({kSpin}, other.get());
                                          marker.mark();
                                        },
                                        {});
  // The events see an empty stream, but the work takes 40 ms.
  EXPECT_GT(chunk.escaped.value, 0.8 * kSpin * kSteps);
}

TEST_F(CudaEventTimerOnGpu, WorkOnAnotherStreamThatIsJoinedDoesNot) {
  const cuda::Stream other = cuda::make_non_blocking_stream();
  const cuda::Event forked = cuda::make_timing_event();
  const cuda::Event joined = cuda::make_timing_event();
  const Chunk chunk = timer_.time_steps(kSteps,
                                        [&](PhaseMarker& marker) {
                                          TBENCH_CUDA_CHECK(cudaEventRecord(forked.get(), nullptr));
                                          TBENCH_CUDA_CHECK(cudaStreamWaitEvent(other.get(), forked.get()));
                                          cuda::launch_spin({kSpin}, other.get());
                                          TBENCH_CUDA_CHECK(cudaEventRecord(joined.get(), other.get()));
                                          TBENCH_CUDA_CHECK(cudaStreamWaitEvent(nullptr, joined.get()));
                                          marker.mark();
                                        },
                                        {});
  EXPECT_NEAR(stats::median(chunk.phase_seconds), kSpin, 0.05 * kSpin);
  EXPECT_LT(chunk.escaped.value, 0.001);
}

TEST_F(CudaEventTimerOnGpu, AStepMustMarkEachPhaseOnce) {
  EXPECT_THROW(static_cast<void>(timer_.time_steps(2, [](PhaseMarker&) {}, {})), std::logic_error);
  const Step twice = [](PhaseMarker& marker) {
    marker.mark();
    marker.mark();
  };
  EXPECT_THROW(static_cast<void>(timer_.time_steps(2, twice, {})), std::logic_error);
}

TEST_F(CudaEventTimerOnGpu, MoreStepsThanPreparedAreRefused) {
  EXPECT_THROW(static_cast<void>(timer_.time_steps(65, spin_and_mark, {})), std::logic_error);
}

/// A step of known duration. If `escapes`, it runs on a stream that is never joined.
class SpinCase final : public FakeCase {
 public:
  explicit SpinCase(bool escapes) : other_{cuda::make_non_blocking_stream()} {
    on_launch = [this, escapes](std::int64_t) { cuda::launch_spin({kSpin}, escapes ? other_.get() : nullptr); };
  }

 private:
  cuda::Stream other_;
};

Record measure_spin(bool escapes) {
  SpinCase subject{escapes};
  CudaEventTimer timer;
  NvmlClockMonitor monitor{cuda::current_nvml_device(cuda::load_nvml())};
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  return measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, {}, 1, {}, {}).at(0);
}

TEST_F(CudaEventTimerOnGpu, TheSamplerFindsTheKnownTime) {
  const Record record = measure_spin(false);
  ASSERT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_NEAR(record.timing->median.value, kSpin, 0.05 * kSpin);
  EXPECT_FALSE(record.timing->host_bound);
  ASSERT_TRUE(record.device.has_value());
  const double told = record.device->sm_clock_p50.value().value;
  EXPECT_GT(told, 1e8);
  EXPECT_NEAR(record.device->sm_clock_counted.value().value, told, 0.02 * told);
  EXPECT_GT(record.device->power.value().value, 1.0);
}

TEST_F(CudaEventTimerOnGpu, TheSamplerCatchesARegionWithoutSynchronisation) {
  const Record record = measure_spin(true);
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_THAT(record.reason, HasSubstr("the timed region does not contain the work"));
  EXPECT_FALSE(record.timing.has_value());
}

}  // namespace
}  // namespace tbench::measure
