#include "bench/run/worker.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "bench/run/local_runner.hpp"
#include "bench/run/stop_signals.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/message_channel.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {
namespace {

/// Answers a request to a child process, which names a case to run or asks whether a case can run.
std::vector<Record> records_for(std::string_view request, CaseRunner& runner, const ProgressCallback& activity) {
  if (!request.starts_with(kQuestion)) return runner.run(CaseId::parse(request), activity, stop_signalled);
  const std::optional<Record> refusal = runner.refusal(CaseId::parse(request.substr(kQuestion.size())), stop_signalled);
  return refusal ? std::vector<Record>{*refusal} : std::vector<Record>{};
}

std::string to_text(const std::vector<Record>& records) {
  results::Json answer = results::Json::array();
  for (const Record& record : records) answer.push_back(results::record_to_json(record));
  return results::compact(answer);
}

/// Returns the records of a request as a message. If it is too long, which a plug-in's texts can cause, returns a
/// record that the case crashed.
std::string answer_of(const std::vector<Record>& records, std::uint64_t max_bytes) {
  std::string answer = to_text(records);
  if (answer.size() <= max_bytes) return answer;
  return to_text({failed_record(
      records.front().id, Status::kCrashed,
      fmt::format("its result has {} bytes, and at most {} are read. A plug-in that says less, fewer --tb_samples or "
                  "--benchmark_repetitions make it shorter.",
                  answer.size(), max_bytes))});
}

}  // namespace

std::uint64_t max_message_bytes(const Options& options) {
  constexpr std::int64_t kSampleBytes = 32;
  const std::int64_t samples = options.fixed_samples.value_or(0) * kSampleBytes;
  return static_cast<std::uint64_t>(options.repetitions) *
         (process::kMaxPayloadBytes + static_cast<std::uint64_t>(samples));
}

int run_worker(std::vector<Family> families, const Options& options) {
  using process::MessageKind;
  catch_stop_signals();
  ::prctl(PR_SET_NAME, "transformer_bench");  // otherwise "exe", the name of the file it was started from
  // A rank whose peer was killed has to fail with an error and not die of SIGPIPE, which gloo's writes to sockets can
  // raise. Python, for which c10d is made, ignores the signal, too.
  std::signal(SIGPIPE, SIG_IGN);
  process::WorkerChannel channel{options.worker->first, options.worker->second};
  if (!channel.wait_for_begin()) return 0;
  std::optional<LocalRunner> made;
  try {
    made.emplace(std::move(families), options);
  } catch (const UsageError& refused) {
    channel.send(MessageKind::kRefused, refused.what());
    return kExitUsage;
  }
  LocalRunner& runner = *made;
  channel.send(MessageKind::kHello, results::compact(results::environment_to_json(runner.environment())));
  while (const std::optional<process::Message> request = channel.receive()) {
    const std::vector<Record> records = records_for(request->payload, runner, [&channel](std::string_view activity) {
      channel.send(MessageKind::kProgress, activity);
    });
    channel.send(MessageKind::kResult, answer_of(records, max_message_bytes(options)));
    if (!runner.is_fit()) {
      channel.send(MessageKind::kPoisoned, "");
      return 1;
    }
    if (stop_signalled()) return 0;
  }
  return 0;
}

}  // namespace tbench::bench
