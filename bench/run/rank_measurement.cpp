#include "bench/run/rank_measurement.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/run/rendezvous.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {
namespace {

constexpr double kGroupShare = 0.5;

std::string current_group(const ranks::Launch& launch, Seconds limit) {
  return group_of_round(*ranks::open_store(launch, /*may_serve=*/false, limit));
}

/// Forms the group under a watchdog. Waiting for a worker that hangs may take as long as a supervisor waits for a sign
/// of life, which every rank except the hanging one must therefore give.
ranks::Group meet(const ranks::Launch& launch, const std::string& name, bool on_gpu, Seconds limit,
                  const measure::ProgressCallback& activity) {
  const StallWatchdog watch{{.group = name + "/rendezvous", .rank = launch.rank, .size = launch.size, .limit = limit},
                            [] { return 0; },
                            [&] { return ranks::open_store(launch, /*may_serve=*/false, limit); },
                            [&] { activity("waiting for the other ranks"); }};
  return ranks::Group{launch, name, on_gpu, limit};
}

class AgreedTracer final : public measure::StepTracer {
 public:
  AgreedTracer(std::unique_ptr<measure::StepTracer> own, measure::Gather gather)
      : own_{std::move(own)}, gather_{std::move(gather)} {}

  void start() override {
    std::exception_ptr problem;
    try {
      own_->start();
    } catch (const std::exception&) {
      problem = std::current_exception();
    }
    const std::array has_started{problem ? 0.0 : 1.0};
    const std::vector<std::vector<double>> all = gather_(has_started);
    if (problem) std::rethrow_exception(problem);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].at(0) != 0) continue;
      own_->cancel();
      throw std::runtime_error{fmt::format("rank {} cannot be traced", rank)};
    }
  }
  [[nodiscard]] std::int64_t now_ns() const override { return own_->now_ns(); }
  [[nodiscard]] StepTrace stop(std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                               Regime regime) override {
    return own_->stop(steps, phases, regime);
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return own_->counters(); }
  void cancel() noexcept override { own_->cancel(); }

 private:
  std::unique_ptr<measure::StepTracer> own_;
  measure::Gather gather_;
};

}  // namespace

RankMeasurement::RankMeasurement(const ranks::Launch& launch, bool on_gpu, Seconds timeout, measure::Timer& own,
                                 const measure::ProgressCallback& activity)
    : RankMeasurement{launch,  current_group(launch, timeout * kGroupShare), on_gpu, timeout * kGroupShare, own,
                      activity} {}

RankMeasurement::RankMeasurement(const ranks::Launch& launch, const std::string& group, bool on_gpu, Seconds limit,
                                 measure::Timer& own, const measure::ProgressCallback& activity)
    : activity_{activity},
      group_{meet(launch, group, on_gpu, limit, activity)},
      timer_{own, [this](std::span<const double> numbers) { return group_.gather(numbers); }, [this] { ++steps_; }},
      watch_{{.group = group, .rank = launch.rank, .size = launch.size, .limit = limit},
             [this] { return group_.calls() + steps_; },
             [launch, limit] { return ranks::open_store(launch, /*may_serve=*/false, limit); },
             [this] { activity_("waiting for the other ranks"); }} {}

void RankMeasurement::mark_consequences(std::vector<Record>& records) const {
  if (!group_.has_failed()) return;
  activity_("leaving the other ranks");
  if (!records.empty()) records.back().labels[kLostRanks] = "while measuring";
}

std::vector<Record> lost_record(const CaseId& id, const std::string& reason) {
  Record record;
  record.id = id;
  record.status = Status::kCrashed;
  record.reason = reason;
  record.labels[kLostRanks] = "before measuring";
  return {record};
}

std::unique_ptr<measure::StepTracer> make_agreed_tracer(std::unique_ptr<measure::StepTracer> own,
                                                        measure::Gather gather) {
  return std::make_unique<AgreedTracer>(std::move(own), std::move(gather));
}

}  // namespace tbench::bench
