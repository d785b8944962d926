#include "bench/ranks/rank_measurement.hpp"

#include "bench/ranks/rank_meeting.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {
namespace {

constexpr double kGroupShare = 0.5;

std::string current_group(const ranks::Launch& launch, Seconds limit) {
  return group_of_round(*ranks::open_store(launch, /*may_serve=*/false, limit));
}

}  // namespace

RankMeasurement::RankMeasurement(const ranks::Launch& launch, bool on_gpu, Seconds timeout, measure::Timer& own)
    : group_{launch, current_group(launch, timeout * kGroupShare), on_gpu, timeout * kGroupShare},
      timer_{own, [this](std::span<const double> numbers) { return group_.gather(numbers); }} {}

void RankMeasurement::mark_consequences(std::vector<Record>& records) const {
  if (group_.has_failed() && !records.empty()) records.back().labels[kLostRanks] = "while measuring";
}

std::vector<Record> lost_record(const CaseId& id, const std::string& reason) {
  Record record;
  record.id = id;
  record.status = Status::kCrashed;
  record.reason = reason;
  record.labels[kLostRanks] = "before measuring";
  return {record};
}

}  // namespace tbench::bench
