#include "bench/session/rank_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "bench/run/stop_signals.hpp"
#include "tbench/core/error.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {
namespace {

/// The longest wait for all ranks to start their first workers, which may have to load libraries from a network file
/// system.
constexpr Seconds kRendezvousLimit{180.0};

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

/// The interval at which a supervisor checks whether the round is lost.
constexpr std::chrono::milliseconds kAskInterval{100};
/// The longest wait for another rank's report is kTimeouts times the timeout, within which a rank that hangs has timed
/// out, plus kReportGrace for killing its worker.
constexpr double kTimeouts = 2.0;
constexpr Seconds kReportGrace{60.0};

/// The longest wait for the other ranks' reports on a round that the user stops.
constexpr std::chrono::seconds kStopGrace{3};

/// Thrown through the supervisor, which then kills the worker, or through the wait for other ranks' reports.
struct RankLost {};

bool has_failed(const std::vector<Record>& records) { return records.empty() || !has_time(records.back().status); }

/// Runs this rank's part of a round. Declares the round lost for all ranks if it failed here, unless the failure is
/// only the consequence of another rank's failure, which that rank reports.
/// @return  no records if the round was lost because of another rank or the user
std::vector<Record> take_part(CaseRunner& own, Rendezvous& rendezvous, const CaseId& id,
                              const ProgressCallback& activity, const StopRequested& stop) {
  auto last_asked = std::chrono::steady_clock::now();
  const StopRequested lost_or_stop = [&] {
    const bool is_stopped = stop();
    const auto now = std::chrono::steady_clock::now();
    if (!is_stopped && now - last_asked < kAskInterval) return false;
    last_asked = now;
    if (is_stopped) rendezvous.lose();
    if (is_stopped || rendezvous.is_lost()) throw RankLost{};
    return false;
  };
  try {
    std::vector<Record> records = own.run(id, activity, lost_or_stop);
    const bool is_consequence = !records.empty() && records.back().labels.contains(kLostRanks);
    if (has_failed(records) && !is_consequence) rendezvous.lose();
    return records;
  } catch (const RankLost&) {
    return {};
  } catch (const std::exception& error) {  // e.g. no worker can be started
    rendezvous.lose();
    return {failed_record(id, Status::kCrashed, error.what())};
  }
}

class CoordinatorRunner final : public CaseRunner {
 public:
  CoordinatorRunner(std::unique_ptr<CaseRunner> own, Rendezvous& rendezvous, Seconds timeout)
      : own_{std::move(own)}, rendezvous_{rendezvous}, timeout_{timeout} {}

  const Environment& environment() override { return own_->environment(); }

  std::vector<Record> run(const CaseId& id, const ProgressCallback& activity, const StopRequested& stop) override {
    if (needs_fresh_) own_->renew_process();
    rendezvous_.call({.name = id.name(), .needs_fresh = needs_fresh_});
    std::vector<std::vector<Record>> ranks{take_part(*own_, rendezvous_, id, activity, stop)};
    const Seconds limit = timeout_ * kTimeouts + kReportGrace;
    std::optional<std::chrono::steady_clock::time_point> stopped;
    const auto waiting = [&] {
      activity("waiting for the other ranks");
      if (!stop()) return;
      if (!stopped) stopped = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - *stopped > kStopGrace) throw RankLost{};
    };
    try {
      for (int rank = 1; rank < rendezvous_.launch().size; ++rank) {
        ranks.push_back(rendezvous_.report_of(rank, id.name(), limit, waiting));
      }
    } catch (const RankLost&) {
      return {};
    }
    std::vector<Record> merged = merge_ranks(ranks);
    needs_fresh_ = has_failed(merged);
    return merged;
  }

  void renew_process() override { needs_fresh_ = true; }
  std::optional<std::int64_t> end_and_count_other_processes() override { return own_->end_and_count_other_processes(); }

 private:
  std::unique_ptr<CaseRunner> own_;
  Rendezvous& rendezvous_;
  Seconds timeout_;
  bool needs_fresh_{};
};

}  // namespace

std::optional<ranks::Launch> own_launch() { return ranks::find_launch(&environment_variable); }

std::unique_ptr<Rendezvous> make_rendezvous(const ranks::Launch& launch) {
  return std::make_unique<Rendezvous>(
      launch,
      [launch](const ranks::Waiting& waiting) {
        return ranks::open_store(launch, /*may_serve=*/true, kRendezvousLimit, waiting);
      },
      Patience{.limit = kRendezvousLimit, .stop = stop_signalled, .tell = [](const std::string& line) {
                 fmt::print(stderr, "transformer_bench: {}\n", line);
               }});
}

void check_with_ranks(const Options& options) {
  const auto refuse = [&](const std::string& flag, const char* why) {
    throw UsageError{fmt::format("{}: not with {} ranks ({}): {}; leave it out, or start one process by itself", flag,
                                 options.launch->size, to_string(options.launch->launcher), why)};
  };
  if (options.isolation == Isolation::kNone) refuse("--tb_isolate=none", "every rank supervises a worker");
  if (options.plant) refuse("--tb_plant", "each rank would delay its steps by its own time");
  if (!options.profile.empty()) refuse("--tb_profile=" + options.profile, "whole traces of ranks are not kept");
}

void show_own_gpu(const ranks::Launch& launch) {
  constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
  constexpr int kReplace = 1;
  ::setenv(kVisible, ranks::visible_gpu(environment_variable(kVisible), launch.local_rank).c_str(), kReplace);
}

std::unique_ptr<CaseRunner> make_coordinator_runner(std::unique_ptr<CaseRunner> own, Rendezvous& rendezvous,
                                                    Seconds timeout) {
  return std::make_unique<CoordinatorRunner>(std::move(own), rendezvous, timeout);
}

int serve_as_rank(CaseRunner& own, Rendezvous& rendezvous, const StopRequested& stop) {
  for (;;) {
    const RankRequest call = rendezvous.next_call(stop);
    if (call.name.empty()) return stop() ? kExitInterrupted : kExitOk;
    if (call.needs_fresh) own.renew_process();
    const CaseId id = CaseId::parse(call.name);
    try {
      rendezvous.report(take_part(
          own, rendezvous, id, [](std::string_view) {}, stop));
    } catch (const std::exception& error) {  // e.g. its worker cannot be started; rank 0 has to know
      rendezvous.report(std::vector{failed_record(id, Status::kCrashed, error.what())});
    }
  }
}

}  // namespace tbench::bench
