// Tests bursts on a simulated device: a queue whose commands run in order. Enqueueing also costs the host time.
#include "tbench/measure/burst.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tbench::measure {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

constexpr double kMicro = 1e-6;
constexpr double kKernel = 5 * kMicro;
constexpr double kTolerance = 1e-12;

class SimulatedDevice final : public BurstQueue {
 public:
  /// @param host_cost  host time per launch; the other commands take no host time
  explicit SimulatedDevice(double host_cost) : host_cost_{host_cost} {}

  void flush_l2() override { run("flush", 40 * kMicro); }
  void spin(Seconds duration) override {
    run(fmt::format("spin {:.0f}", duration.value / kMicro), duration.value);
    spins.push_back(duration.value);
  }
  void record(std::size_t event) override {
    run(fmt::format("event {}", event), 0);
    events_[event] = device_;
  }
  bool has_passed(std::size_t event) override { return events_.at(event) <= host_; }
  Seconds between(std::size_t first, std::size_t last) const override { return {events_.at(last) - events_.at(first)}; }
  /// The host is busy first, and then enqueues the kernel.
  void launch(double duration) {
    host_ += host_cost_;
    run("launch", duration);
  }
  void wait() { host_ = std::max(host_, device_); }

  std::vector<std::string> log;
  std::vector<double> spins;

 private:
  void run(std::string name, double duration) {
    log.push_back(std::move(name));
    device_ = std::max(device_, host_) + duration;
  }

  double host_cost_;
  double host_{};
  double device_{};  // time at which all commands so far have finished
  std::map<std::size_t, double> events_;
};

/// Runs one burst of launches of kKernel and returns the times of its phases.
std::vector<double> run_burst(SimulatedDevice& device, const BurstSetup& setup, std::size_t launches, Seconds& spin,
                              Burst::HostTimes* host = nullptr) {
  Burst burst{setup, launches};
  burst.enqueue(device, spin, [&](PhaseMarker& marker) {
    for (std::size_t phase = 1; phase <= setup.phases; ++phase) {
      device.launch(kKernel * static_cast<double>(phase));
      marker.mark();
    }
  });
  device.wait();
  std::vector<double> times(setup.phases);
  burst.read(device, times);
  if (host != nullptr) {
    *host = burst.host();
  }
  return times;
}

TEST(Burst, HidesOneLaunchBehindASpin) {
  SimulatedDevice device{4 * kMicro};
  Seconds spin = kFirstSpin;
  Burst::HostTimes host;
  EXPECT_THAT(run_burst(device, {}, 1, spin, &host), ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_THAT(device.log, ElementsAre("spin 20", "event 0", "launch", "event 1"));
  EXPECT_EQ(spin, kFirstSpin);
  EXPECT_FALSE(host.exposed);
}

TEST(Burst, WithoutASpinTheHostWouldShow) {
  // Without a command before the launch, the event passes at once, so the time includes the host's 4 us.
  SimulatedDevice device{4 * kMicro};
  device.record(0);
  device.launch(kKernel);
  device.record(1);
  EXPECT_NEAR(device.between(0, 1).value, 9 * kMicro, kTolerance);
  EXPECT_TRUE(device.has_passed(0));
}

TEST(Burst, WarmLaunchesFollowEachOtherBetweenTwoEvents) {
  SimulatedDevice device{4 * kMicro};
  Seconds spin = kFirstSpin;
  EXPECT_THAT(run_burst(device, {}, 3, spin), ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_THAT(device.log, ElementsAre("spin 20", "event 0", "launch", "launch", "launch", "event 1"));
  EXPECT_EQ(Burst::events({}, 3), 2U);
}

TEST(Burst, ColdLaunchesEachHaveTheirFlushAndTheirSpin) {
  SimulatedDevice device{4 * kMicro};
  Seconds spin = kFirstSpin;
  const BurstSetup cold{.phases = 1, .flush_l2 = true};
  EXPECT_THAT(run_burst(device, cold, 2, spin), ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_THAT(device.log, ElementsAre("flush", "spin 20", "event 0", "launch", "event 1",  //
                                      "flush", "spin 20", "event 2", "launch", "event 3"));
  EXPECT_EQ(Burst::events(cold, 2), 4U);
}

TEST(Burst, ACheckerActsBehindTheSpinAndBehindTheLaunch) {
  SimulatedDevice device{4 * kMicro};
  struct LoggingChecker final : LaunchChecker {
    explicit LoggingChecker(std::vector<std::string>& to) : log{to} {}
    void begin() override {}
    void redraw() override { log.emplace_back("redraw"); }
    void perturb() override { log.emplace_back("perturb"); }
    void after() override { log.emplace_back("after"); }
    Verification verdict() override { return {}; }
    std::vector<std::string>& log;
  } checker{device.log};
  Seconds spin = kFirstSpin;
  run_burst(device, {.phases = 1, .flush_l2 = true, .checker = &checker}, 1, spin);
  EXPECT_THAT(device.log,
              ElementsAre("spin 20", "event 2", "redraw", "flush", "perturb", "event 0", "launch", "event 1", "after"));
  device.log.clear();
  // Launches with a warm cache are also separated by a spin.
  run_burst(device, {.phases = 1, .checker = &checker}, 2, spin);
  EXPECT_THAT(device.log,
              ElementsAre("spin 20", "event 2", "redraw", "perturb", "event 0", "launch", "event 1", "after",  //
                          "spin 20", "event 5", "redraw", "perturb", "event 3", "launch", "event 4", "after"));
}

TEST(Burst, WithACheckerTheSpinLastsUntilTheLaunchIsEnqueued) {
  // The flush hides the launch. A stream that waits for no other could still read the operands while the host enqueues
  // the launch, so the spin must last longer.
  SimulatedDevice device{25 * kMicro};
  struct IdleChecker final : LaunchChecker {
    void begin() override {}
    void redraw() override {}
    void perturb() override {}
    void after() override {}
    Verification verdict() override { return {}; }
  } checker;
  Seconds spin = kFirstSpin;
  EXPECT_THAT(run_burst(device, {.phases = 1, .flush_l2 = true, .checker = &checker}, 1, spin),
              ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_GT(spin.value, kFirstSpin.value);
}

TEST(Burst, PhasesAreMeansOverTheLaunches) {
  for (const bool flush : {false, true}) {
    SimulatedDevice device{1 * kMicro};
    Seconds spin = kFirstSpin;
    const BurstSetup setup{.phases = 2, .flush_l2 = flush};
    EXPECT_THAT(run_burst(device, setup, 3, spin),
                ElementsAre(DoubleNear(kKernel, kTolerance), DoubleNear(2 * kKernel, kTolerance)));
    EXPECT_EQ(Burst::events(setup, 3), flush ? 9U : 7U);  // 3 * (1 + 2), or 1 + 3 * 2
    EXPECT_EQ(std::ranges::count(device.log, "launch"), 6);
  }
}

TEST(Burst, AnExposedLaunchIsDoneAgainBehindALongerSpin) {
  SimulatedDevice device{70 * kMicro};  // 20 and 40 us do not hide it, 80 do
  Seconds spin = kFirstSpin;
  Burst::HostTimes host;
  EXPECT_THAT(run_burst(device, {}, 1, spin, &host), ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_THAT(device.log, ElementsAre("spin 20", "event 0", "launch", "event 1",  //
                                      "spin 40", "event 0", "launch", "event 1",  //
                                      "spin 80", "event 0", "launch", "event 1"));
  EXPECT_FALSE(host.exposed);
  // The next burst begins with the spin that was long enough.
  device.log.clear();
  EXPECT_THAT(run_burst(device, {}, 1, spin), ElementsAre(DoubleNear(kKernel, kTolerance)));
  EXPECT_THAT(device.log, ElementsAre("spin 80", "event 0", "launch", "event 1"));
}

TEST(Burst, OnlyTheColdLaunchThatWasExposedIsDoneAgain) {
  SimulatedDevice device{1 * kMicro};
  Seconds spin = kFirstSpin;
  Burst burst{{.phases = 1, .flush_l2 = true}, 3};
  int launch = 0;
  burst.enqueue(device, spin, [&](PhaseMarker& marker) {
    // The host pauses during the second launch for longer than two flushes, two spins and a launch.
    for (int i = 0; launch == 1 && i < 200; ++i) {
      device.launch(0);
    }
    device.launch(kKernel);
    marker.mark();
    ++launch;
  });
  device.wait();
  EXPECT_EQ(launch, 4);
  EXPECT_EQ(burst.calls(), 4U);
  EXPECT_THAT(burst.made_again(), ElementsAre(1));
  EXPECT_EQ(std::ranges::count(device.log, "flush"), 4);
  EXPECT_EQ(std::ranges::count(device.log, "event 2"), 2);  // the begin of the second launch
  std::vector<double> times(1);
  burst.read(device, times);
  EXPECT_THAT(times, ElementsAre(DoubleNear(kKernel, kTolerance)));
}

TEST(Burst, LaunchesThatFollowEachOtherAreAllMadeAgain) {
  SimulatedDevice device{30 * kMicro};  // 60 us in all: 20 and 40 us do not hide them
  Seconds spin = kFirstSpin;
  Burst burst{{}, 2};
  for (const bool is_hidden : {false, true}) {
    burst.enqueue(device, spin, [&](PhaseMarker& marker) {
      device.launch(kKernel);
      marker.mark();
    });
    device.wait();
    EXPECT_EQ(burst.calls(), is_hidden ? 2U : 6U);
    if (is_hidden)
      EXPECT_THAT(burst.made_again(), ElementsAre());
    else
      EXPECT_THAT(burst.made_again(), ElementsAre(0, 1, 2, 3));
  }
}

TEST(Burst, TheSpinHasACap) {
  SimulatedDevice device{0.08};  // longer than any spin
  Seconds spin = kFirstSpin;
  Burst::HostTimes host;
  const std::vector<double> times = run_burst(device, {}, 1, spin, &host);
  EXPECT_TRUE(host.exposed);
  EXPECT_EQ(spin, kLongestSpin);
  EXPECT_DOUBLE_EQ(*std::ranges::max_element(device.spins), 0.05);
  EXPECT_EQ(std::ranges::count(device.spins, 0.05), 1);
  EXPECT_GT(times[0], kKernel);  // includes the time that the spin could not hide
  // Later bursts are accepted without a longer spin.
  const std::size_t before = device.spins.size();
  run_burst(device, {}, 1, spin, &host);
  EXPECT_TRUE(host.exposed);
  EXPECT_EQ(device.spins.size(), before + 1);
}

TEST(Burst, ALaunchMustMarkEachPhaseOnce) {
  for (const int marks : {0, 1, 3}) {
    SimulatedDevice device{kMicro};
    Seconds spin = kFirstSpin;
    Burst burst{{.phases = 2, .flush_l2 = false}, 1};
    EXPECT_THROW(burst.enqueue(device, spin,
                               [&](PhaseMarker& marker) {
                                 for (int i = 0; i < marks; ++i) {
                                   marker.mark();
                                 }
                               }),
                 std::logic_error)
        << marks;
  }
}

}  // namespace
}  // namespace tbench::measure
