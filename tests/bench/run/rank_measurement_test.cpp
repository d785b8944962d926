#include "bench/run/rank_measurement.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tbench::bench {
namespace {

/// Records the calls of the inner tracer, in order.
class ScriptedTracer final : public measure::StepTracer {
 public:
  ScriptedTracer(std::string refusal, std::vector<std::string>& asked) : refusal_{std::move(refusal)}, asked_{asked} {}
  void start() override {
    asked_.emplace_back("start");
    if (!refusal_.empty()) throw std::runtime_error{refusal_};
  }
  [[nodiscard]] std::int64_t now_ns() const override { return 17; }
  [[nodiscard]] StepTrace stop(std::span<const EnqueuedStep> /*steps*/, std::span<const std::string_view> /*phases*/,
                               Regime /*regime*/) override {
    asked_.emplace_back("stop");
    StepTrace trace;
    trace.steps = 3;
    return trace;
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return {{"communication_ms", 2.5}}; }
  void cancel() noexcept override { asked_.emplace_back("cancel"); }

 private:
  std::string refusal_;
  std::vector<std::string>& asked_;
};

/// Gathers the answer of this rank and then the answer `other` of the other rank.
measure::Gather beside(double other) {
  return [other](std::span<const double> own) {
    return std::vector<std::vector<double>>{{own.begin(), own.end()}, {other}};
  };
}

std::string refusal_of(const std::string& own, double other, std::vector<std::string>& asked) {
  const auto tracer = make_agreed_tracer(std::make_unique<ScriptedTracer>(own, asked), beside(other));
  try {
    tracer->start();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(AgreedTracer, TracesWhereAllRanksCan) {
  std::vector<std::string> asked;
  const auto tracer = make_agreed_tracer(std::make_unique<ScriptedTracer>("", asked), beside(1));
  tracer->start();
  EXPECT_EQ(tracer->now_ns(), 17);
  EXPECT_EQ(tracer->stop({}, {}, Regime::kSustained).steps, 3);
  EXPECT_EQ(tracer->counters().at("communication_ms"), 2.5);
  EXPECT_EQ(asked, (std::vector<std::string>{"start", "stop"}));
}

TEST(AgreedTracer, DoesNotWhereAnotherRankCannot) {
  std::vector<std::string> asked;
  EXPECT_EQ(refusal_of("", 0, asked), "rank 1 cannot be traced");
  EXPECT_EQ(asked, (std::vector<std::string>{"start", "cancel"}));
}

TEST(AgreedTracer, SaysWhyThisRankCannot) {
  std::vector<std::string> asked;
  EXPECT_EQ(refusal_of("a profiler is attached", 1, asked), "a profiler is attached");
}

}  // namespace
}  // namespace tbench::bench
