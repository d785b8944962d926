#include "worker.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "local_runner.hpp"
#include "stop_signal.hpp"
#include "tbench/measure/message_channel.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::bench {

int run_worker(std::vector<Family> families, const Options& options) {
  using measure::MessageKind;
  catch_stop_signals();
  measure::WorkerChannel channel{options.worker->first, options.worker->second};
  LocalRunner runner{std::move(families), options};
  channel.send(MessageKind::kHello, report::compact(report::environment_to_json(runner.environment())));
  while (const std::optional<measure::Message> request = channel.receive()) {
    const std::vector<Record> records = runner.run(
        CaseId::parse(request->payload),
        [&channel](std::string_view activity) { channel.send(MessageKind::kProgress, activity); }, stop_signalled);
    report::Json answer = report::Json::array();
    for (const Record& record : records) answer.push_back(report::record_to_json(record));
    channel.send(MessageKind::kResult, report::compact(answer));
    if (!runner.is_fit()) {
      channel.send(MessageKind::kPoisoned, "");
      return 1;
    }
    if (stop_signalled()) return 0;
  }
  return 0;
}

}  // namespace tbench::bench
