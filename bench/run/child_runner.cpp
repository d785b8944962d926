#include "bench/run/child_runner.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/run/own_program.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/run/stop_signals.hpp"
#include "bench/run/worker.hpp"
#include "tbench/process/host_limits.hpp"
#include "tbench/process/supervisor.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {
namespace {

using process::Outcome;

/// Returns the bytes of host memory that a child may use, which leaves some memory for the host; 0 for no limit.
std::int64_t max_memory_bytes() {
  constexpr double kShare = 0.9;
  return static_cast<std::int64_t>(static_cast<double>(process::memory_limit().value_or(0)) * kShare);
}

/// Adds the time for starting the process to the case's first record.
std::vector<Record> with_start(std::vector<Record> records, Seconds start) {
  if (!records.empty()) records.front().harness = records.front().harness + start;
  return records;
}

/// Checks that a later worker has the environment of the first.
/// @throws  std::runtime_error  naming the difference
void refuse_other_worker(const Environment& first, const Environment& now) {
  const std::optional<std::string> what = worker_difference(first, now);
  if (!what) return;
  throw std::runtime_error{
      fmt::format("a worker process is not as the first one of this run: {}. None of its times is kept. Leave the "
                  "program, its libraries and the machine as they are during a run, and go on with --tb_resume.",
                  *what)};
}

class SupervisedRunner final : public CaseRunner {
 public:
  explicit SupervisedRunner(process::SupervisorOptions options)
      : is_fresh_per_case_{options.fresh_child_per_request}, supervisor_{with_check(std::move(options))} {}

  const Environment& environment() override {
    if (!environment_) static_cast<void>(supervisor_.hello(stop_signalled));
    return *environment_;
  }

  std::vector<Record> run(const CaseId& id, const ProgressCallback& activity, const StopRequested& stop) override {
    const Outcome outcome = supervisor_.request(id.name(), activity, stop);
    switch (outcome.kind) {
      case Outcome::Kind::kInterrupted:
        return {};
      case Outcome::Kind::kCrashed:
        return with_start({failed_record(id, Status::kCrashed, outcome.reason)}, outcome.start);
      case Outcome::Kind::kTimeout:
        return with_start({failed_record(id, Status::kTimeout, outcome.reason)}, outcome.start);
      case Outcome::Kind::kResult:
        break;
    }
    std::vector<Record> records;
    for (const auto& json : results::parse_json(outcome.payload)) {
      records.push_back(results::record_from_json(json, id.name()));
    }
    return with_start(std::move(records), outcome.start);
  }

  std::optional<Record> refusal(const CaseId& id, const StopRequested& stop) override {
    if (is_fresh_per_case_) return std::nullopt;  // the process that answers would then have to be replaced
    const std::optional<std::string> answer = supervisor_.ask(fmt::format("{}{}", kQuestion, id.name()), stop);
    const results::Json records = answer ? results::parse_json(*answer) : results::Json::array();
    if (records.empty()) return std::nullopt;
    return results::record_from_json(records.front(), id.name());
  }

  void renew_process() override { supervisor_.renew_child(); }
  void prepare_process() override { supervisor_.prepare_child(); }

  std::optional<std::int64_t> end_and_count_other_processes() override {
    supervisor_.end_children();
    return environment_ ? other_processes_now(*environment_) : std::nullopt;
  }

 private:
  process::SupervisorOptions with_check(process::SupervisorOptions options) {
    options.check_hello = [this](const std::string& hello) { check_hello(hello); };
    return options;
  }
  void check_hello(const std::string& hello) {
    Environment now = results::environment_from_json(results::parse_json(hello), "hello");
    if (environment_) refuse_other_worker(*environment_, now);
    if (!environment_) environment_ = std::move(now);
  }

  bool is_fresh_per_case_;
  process::Supervisor supervisor_;
  std::optional<Environment> environment_;
};

}  // namespace

std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options, std::vector<std::string> arguments) {
  std::vector<std::string> command{own_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<SupervisedRunner>(
      process::SupervisorOptions{.command = std::move(command),
                                 .executable = kOwnExecutable,
                                 .timeout = options.timeout,
                                 .fresh_child_per_request = options.isolation == Isolation::kCase,
                                 .max_message_bytes = max_message_bytes(options),
                                 .max_memory_bytes = max_memory_bytes()});
}

}  // namespace tbench::bench
