// Cases in child processes: one that crashes or hangs gets its status, and the next case a new child.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "case_runner.hpp"
#include "tbench/measure/supervisor.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::bench {
namespace {

using measure::Outcome;

Record failed_record(const CaseId& id, Status status, const std::string& reason) {
  Record record;
  record.id = id;
  record.status = status;
  record.reason = reason;
  return record;
}

class SupervisedRunner final : public CaseRunner {
 public:
  explicit SupervisedRunner(measure::SupervisorOptions options) : supervisor_{std::move(options)} {}

  const Environment& environment() override {
    if (!environment_) environment_ = report::environment_from_json(report::Json::parse(supervisor_.hello()), "hello");
    return *environment_;
  }

  std::vector<Record> run(const CaseId& id, const Activity& activity, const StopRequested& stop) override {
    const Outcome outcome = supervisor_.request(id.name(), activity, stop);
    switch (outcome.kind) {
      case Outcome::Kind::kInterrupted:
        return {};
      case Outcome::Kind::kCrashed:
        return {failed_record(id, Status::kCrashed, outcome.reason)};
      case Outcome::Kind::kTimeout:
        return {failed_record(id, Status::kTimeout, outcome.reason)};
      case Outcome::Kind::kResult:
        break;
    }
    std::vector<Record> records;
    for (const auto& json : report::Json::parse(outcome.payload)) {
      records.push_back(report::record_from_json(json, id.name()));
    }
    return records;
  }

  void renew_process() override { supervisor_.renew_child(); }

 private:
  measure::Supervisor supervisor_;
  std::optional<Environment> environment_;
};

}  // namespace

std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options, std::vector<std::string> arguments) {
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<SupervisedRunner>(
      measure::SupervisorOptions{.command = std::move(command),
                                 .timeout = options.timeout,
                                 .fresh_child_per_request = options.isolation == Isolation::kCase});
}

}  // namespace tbench::bench
