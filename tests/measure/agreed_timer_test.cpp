// Tests AgreedTimer with two threads instead of two processes. Each thread has a scripted timer.
#include "tbench/measure/agreed_timer.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::measure {
namespace {

/// Gathers the values of two threads.
class Meeting {
 public:
  Gather gather(std::size_t rank) {
    return [this, rank](std::span<const double> own) {
      brought_[rank].assign(own.begin(), own.end());
      arrived_.arrive_and_wait();
      std::vector<std::vector<double>> all{brought_[0], brought_[1]};
      arrived_.arrive_and_wait();
      return all;
    };
  }

 private:
  std::map<std::size_t, std::vector<double>> brought_{{0, {}}, {1, {}}};
  std::barrier<> arrived_{2};
};

/// Makes each step take the next of `times`, which repeat. Time passes only during steps and waits.
class ScriptedTimer final : public Timer {
 public:
  ScriptedTimer(std::vector<double> times, Seconds escaped) : times_{std::move(times)}, escaped_{escaped} {}

  void prepare(std::size_t /*max_steps*/, std::size_t /*phases*/) override {}
  Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override {
    struct NoMarker final : PhaseMarker {
      void mark() override {}
    } marker;
    Chunk chunk{
        .phase_seconds = {}, .phases = 1, .wall = {}, .enqueue = {}, .cpu = {}, .escaped = escaped_, .made_again = {}};
    for (std::size_t i = 0; i < count; ++i) {
      step(marker);
      chunk.phase_seconds.push_back(times_[steps_++ % times_.size()]);
      chunk.wall = chunk.wall + Seconds{chunk.phase_seconds.back()};
    }
    if (while_busy) while_busy();
    now_ = now_ + chunk.wall;
    return chunk;
  }
  bool can_flush_l2() const override { return true; }
  void begin_bursts(const BurstSetup& /*setup*/) override {}
  Chunk time_bursts(std::size_t, std::size_t, const Step&, const std::function<void()>&) override { return {}; }
  void end_bursts() noexcept override {}
  Seconds now() const override { return now_; }
  void wait(Seconds duration) override { now_ = now_ + duration; }

 private:
  std::vector<double> times_;
  Seconds escaped_;
  std::size_t steps_{};
  Seconds now_{1000.0};  // the clocks of two processes have different origins
};

/// Runs `body(rank)` in two threads and waits for both.
template <class Body>
void in_two(const Body& body) {
  std::thread other{[&] { body(std::size_t{1}); }};
  body(std::size_t{0});
  other.join();
}

TEST(AgreedTimer, GivesBothTheChunkOfTheSlowerOne) {
  Meeting meeting;
  ScriptedTimer own[]{{{1.0, 5.0}, {}}, {{3.0, 4.0}, Seconds{0.25}}};  // 6 s against 7 s
  Chunk chunks[2];
  Seconds ends[2];
  in_two([&](std::size_t rank) {
    AgreedTimer timer{own[rank], meeting.gather(rank)};
    chunks[rank] = timer.time_steps(2, [](PhaseMarker&) {}, {});
    ends[rank] = timer.now();
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(chunks[rank].phase_seconds, (std::vector{3.0, 4.0})) << rank;  // not 3 and 5, the larger of each pair
    EXPECT_EQ(chunks[rank].wall, Seconds{7.0}) << rank;
    EXPECT_EQ(chunks[rank].escaped, Seconds{0.25}) << rank;
    EXPECT_EQ(ends[rank], Seconds{7.0}) << rank;  // time since the timer was made
  }
}

TEST(AgreedTimer, RefusesChunksOfDifferentLengthsBeforeAnyStep) {
  Meeting meeting;
  ScriptedTimer own[]{{{1.0}, {}}, {{1.0}, {}}};
  int steps[]{0, 0};
  in_two([&](std::size_t rank) {
    AgreedTimer timer{own[rank], meeting.gather(rank)};
    EXPECT_THROW(static_cast<void>(timer.time_steps(2 + rank, [&](PhaseMarker&) { ++steps[rank]; }, {})),
                 std::logic_error);
  });
  EXPECT_EQ(steps[0] + steps[1], 0);
}

TEST(AgreedTimer, CountsNoTimeBeforeTheLastOneIsReady) {
  Meeting meeting;
  ScriptedTimer own[]{{{1.0}, {}}, {{1.0}, {}}};
  Seconds begins[2], ends[2];
  in_two([&](std::size_t rank) {
    AgreedTimer timer{own[rank], meeting.gather(rank)};
    own[rank].wait(Seconds{rank == 0 ? 5.0 : 8.0});  // the time that building takes
    timer.prepare(1, 1);
    begins[rank] = timer.now();
    static_cast<void>(timer.time_steps(1, [](PhaseMarker&) {}, {}));
    ends[rank] = timer.now();
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(begins[rank], Seconds{8.0}) << rank;
    EXPECT_EQ(ends[rank], Seconds{9.0}) << rank;
  }
}

TEST(AgreedTimer, HasNoBursts) {
  ScriptedTimer own{{1.0}, {}};
  AgreedTimer timer{own, [](std::span<const double>) { return std::vector<std::vector<double>>{}; }};
  EXPECT_FALSE(timer.can_flush_l2());
  EXPECT_THROW(timer.begin_bursts({}), std::logic_error);
}

class CountingCase final : public Case {
 public:
  std::optional<std::string> unsupported_reason() const override { return std::nullopt; }
  void build() override {}
  Verification verify() override {
    return {.passed = true, .reference = "", .worst_error = 0, .worst_where = "", .message = ""};
  }
  std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 1> kPhases{"launch"};
    return kPhases;
  }
  void launch(PhaseMarker& marker) override {
    ++launches;
    marker.mark();
  }
  Work work() const override { return {}; }
  std::map<std::string, double> counters() override { return {}; }

  int launches{};
};

/// The two threads' times differ so much that, without an agreement, each would take a different number of steps.
TEST(AgreedTimer, MakesTheSamplerTakeTheSameStepsEverywhere) {
  const std::vector<double> quiet{0.010, 0.0101, 0.0099}, noisy{0.010, 0.013, 0.008, 0.015, 0.009};
  const auto launches_alone = [&](const std::vector<double>& times) {
    CountingCase subject;
    ScriptedTimer timer{times, {}};
    NoClockMonitor monitor;
    static_cast<void>(sample(subject, timer, monitor, {}, {}, {}));
    return subject.launches;
  };
  ASSERT_NE(launches_alone(quiet), launches_alone(noisy));

  Meeting meeting;
  CountingCase subjects[2];
  SampleResult results[2];
  in_two([&](std::size_t rank) {
    ScriptedTimer own{rank == 0 ? quiet : noisy, {}};
    AgreedTimer timer{own, meeting.gather(rank)};
    own.wait(Seconds{100.0});  // the time that building takes
    NoClockMonitor monitor;
    results[rank] = sample(subjects[rank], timer, monitor, {}, {}, {});
  });
  EXPECT_EQ(subjects[0].launches, subjects[1].launches);
  EXPECT_EQ(results[0].timing, results[1].timing);
  EXPECT_LT(results[0].elapsed, Seconds{100.0});
}

}  // namespace
}  // namespace tbench::measure
