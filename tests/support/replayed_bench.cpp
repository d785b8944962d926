// Helper of the gate's tests: a transformer_bench that replays committed results of an H200, with the noise that was
// measured on real machines. It takes `--benchmark_filter` and `--benchmark_out`, and writes five processes. The
// environment selects the measurement:
//   REPLAY_NIGHT=N     number of the night (0): its date, and the machine's effect on every case in all its processes
//   REPLAY_SLOW=REGEX  cases whose name matches take REPLAY_FACTOR (1.08) times as long, on the GPU too
//   REPLAY_HOST=F      every step takes F times as long, but the GPU's work in it takes as long as before
// The name of the file distinguishes the runs of one night. Device times differ by 0.3 % from night to night and by 0.5
// % between processes. Host times vary more: pageable copies by 28 %, dispatch by 6 %, reads from L2 by 2.7 %, launches
// by 2.5 % (standard deviations over seven hosts).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_file.hpp"

namespace {

using namespace tbench;
using namespace tbench::results;

constexpr std::int64_t kProcesses = 5;
constexpr double kProcessNoise = 0.005;
constexpr std::size_t kSamples = 20;  // number kept per process; the gate only reads their median

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

double night_noise(const CaseId& id) {
  constexpr double kDevice = 0.003;
  if (id.family() != "Ceiling") return kDevice;
  const std::string& what = id.at("what");
  if (what.ends_with("pageable")) return 0.28;
  if (what == "dispatch") return 0.06;
  if (what == "l2_read") return 0.027;
  return what == "launch" || what == "event" ? 0.025 : kDevice;
}

/// Returns a standard normal number that depends only on the text.
double noise(const std::string& text) {
  std::mt19937_64 random{std::hash<std::string>{}(text)};
  return std::normal_distribution<double>{}(random);
}

void scale(Timing& timing, double factor) {
  timing.samples_s.resize(std::min(timing.samples_s.size(), kSamples));
  timing.flagged_samples.clear();
  support::scale_samples(timing, factor);
  for (PhaseTime& phase : timing.phases) phase.median = phase.median * factor;
}

/// Adds a trace, because the replayed files have none. The GPU works for nine tenths of a step.
StepTrace trace_of(const Timing& timing) {
  StepTrace trace;
  trace.steps = 3;
  trace.span = timing.median;
  trace.device = timing.median * 0.9;
  trace.other_gaps = timing.median * 0.1;
  return trace;
}

/// @param run  the file's name, not its path, which contains a folder's random name
Record replayed(Record record, const std::string& run, std::int64_t process) {
  const std::string name = record.id.name();
  const std::string slow = variable("REPLAY_SLOW", "");
  const double planted = !slow.empty() && std::regex_search(name, std::regex{slow, std::regex::extended})
                             ? std::stod(variable("REPLAY_FACTOR", "1.08"))
                             : 1;
  const std::string night = variable("REPLAY_NIGHT", "0");
  const double of_night = night_noise(record.id) * noise(night + name);
  const double of_process = kProcessNoise * noise(fmt::format("{} {} {} {}", night, run, name, process));
  scale(record.timing.value(), planted * std::exp(of_night + of_process));
  if (record.id.family() != "Ceiling") {
    record.trace = trace_of(*record.timing);
    scale(*record.timing, std::stod(variable("REPLAY_HOST", "1")));
  }
  record.repetition_index = process;
  record.repetitions = kProcesses;
  return record;
}

int run(const std::vector<std::string>& arguments) {
  std::regex filter{".", std::regex::extended};
  std::string out;
  for (const std::string& argument : arguments) {
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.starts_with("--benchmark_filter=")) filter = std::regex{value, std::regex::extended};
    if (argument.starts_with("--benchmark_out=")) out = value;
  }
  const std::string root = TBENCH_SOURCE_DIR "/bench/results/nvidia_h200/";
  ResultFile file = read_result_file(root + "repeatability/aa_a.json.gz");
  std::vector<Record> recorded = std::move(file.records);
  const ResultFile ceilings = read_result_file(root + "ceilings/ceilings.json.gz");
  recorded.insert(recorded.end(), ceilings.records.begin(), ceilings.records.end());
  file.records.clear();
  for (const Record& record : recorded) {
    if (record.repetition_index != 0 || !record.timing || !std::regex_search(record.id.name(), filter)) continue;
    for (std::int64_t process = 0; process < kProcesses; ++process) {
      file.records.push_back(replayed(record, std::filesystem::path{out}.filename(), process));
    }
  }
  constexpr std::int64_t kFirstNight = 1'767'322'800;
  file.environment.date = format_timestamp(kFirstNight + std::stoll(variable("REPLAY_NIGHT", "0")) * 86'400);
  file.options["processes"] = std::to_string(kProcesses);
  write_result_file(out, file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
