// Helper of the tests of the gate and of ci/nightly.sh: a transformer_bench that measures nothing. It takes
// `--benchmark_filter`, `--benchmark_out`, `--tb_processes`, `--tb_plant`, `--tb_shard` and `--benchmark_list_tests`,
// and writes results of eight cases and a ceiling that take about 10 ms. A shard also has the ceiling, as a real shard
// on a GPU does. The environment describes the "build":
//   FAKE_SLOW=REGEX     cases whose name matches take FAKE_FACTOR (1.05) times as long
//   FAKE_FAIL=REGEX     cases whose name matches end as `incorrect`
//   FAKE_WITHOUT=REGEX  cases whose name matches are missing
//   FAKE_BYTES=N        number of bytes by which the peak memory is larger
//   FAKE_DATE=TEXT      time at which the run began
//   FAKE_CEILING=F      the ceiling takes F times as long
//   FAKE_DEAF=1         --tb_plant slows nothing down
//   FAKE_GPU=UUID       the run is on another GPU of the model
//   FAKE_DRIVER=TEXT, FAKE_COMMIT=TEXT, FAKE_SEED=N
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/results/result_file.hpp"

namespace {

using namespace tbench;
using namespace tbench::results;
using namespace tbench::support;

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

bool matches(const char* name, const std::string& text) {
  const std::string pattern = variable(name, "");
  return !pattern.empty() && std::regex_search(text, std::regex{pattern});
}

std::vector<CaseId> all_cases() {
  std::vector<CaseId> cases;
  for (const char* size : {"small", "medium", "large", "2.7B"}) {
    for (const char* pass : {"forward", "train_step"}) cases.push_back(model_id(pass, "sdpa", size));
  }
  cases.push_back(CaseId{"Ceiling", {{"what", "copy"}}});
  return cases;
}

/// Parses `plant`, which is CASE:SHARE. Returns 1 + SHARE for that case, 1 for others.
double planted_factor(const std::string& plant, const std::string& name) {
  const std::size_t colon = plant.rfind(':');
  if (plant.empty() || plant.substr(0, colon) != name || !variable("FAKE_DEAF", "").empty()) return 1;
  return 1 + std::stod(plant.substr(colon + 1));
}

Record measured(const CaseId& id, const std::string& plant, std::mt19937_64& random) {
  const std::string name = id.name();
  if (matches("FAKE_FAIL", name)) return failed_record(id, Status::kIncorrect, "planted");
  std::normal_distribution<double> noise{0, id.family() == "Ceiling" ? 0.001 : 0.003};
  double factor = matches("FAKE_SLOW", name) ? std::stod(variable("FAKE_FACTOR", "1.05")) : 1;
  factor *= planted_factor(plant, name);
  if (id.family() == "Ceiling") factor *= std::stod(variable("FAKE_CEILING", "1"));
  Record record = timed_record(id, Seconds{0.01 * factor * std::exp(noise(random))});
  DeviceState device;
  device.sm_clock_p50 = Hertz{1.98e9};
  record.device = device;
  record.memory = MemoryUse{};
  record.memory->allocated_peak = 1'000'000'000 + std::stoll(variable("FAKE_BYTES", "0"));
  return record;
}

Environment environment() {
  Environment result = gpu_environment();
  result.date = variable("FAKE_DATE", "2026-01-02T03:00:00Z");
  result.commit = variable("FAKE_COMMIT", "0123456789ab");
  result.versions["driver"] = variable("FAKE_DRIVER", "580.1");
  result.gpu->uuid = variable("FAKE_GPU", result.gpu->uuid);
  return result;
}

int run(const std::vector<std::string>& arguments) {
  std::regex filter{".", std::regex::extended};
  std::string out;
  std::string plant;
  bool lists = false;
  std::int64_t processes = 1;
  std::optional<Shard> shard;
  ResultFile file;
  for (const std::string& argument : arguments) {
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.starts_with("--benchmark_filter=")) filter = std::regex{value, std::regex::extended};
    if (argument.starts_with("--benchmark_out=")) out = value;
    if (argument.starts_with("--tb_plant=")) plant = value;
    if (argument.starts_with("--tb_seed=")) file.options["seed"] = value;
    if (argument.starts_with("--tb_processes=")) processes = std::stoll(value);
    if (argument.starts_with("--tb_shard=")) shard = parse_shard(value).value();
    if (argument == "--benchmark_list_tests") lists = true;
  }
  std::vector<CaseId> cases = all_cases();
  std::erase_if(cases, [&](const CaseId& id) { return !std::regex_search(id.name(), filter); });
  std::erase_if(cases, [&](const CaseId& id) { return matches("FAKE_WITHOUT", id.name()); });
  if (shard) {
    file.options["shard"] = to_string(*shard);
    file.options["shared_cases"] =
        std::to_string(std::ranges::count_if(cases, [](const CaseId& id) { return !is_ceiling(id); }));
    const std::vector<CaseId> own = cases_of(*shard, cases);
    std::erase_if(cases, [&](const CaseId& id) { return !is_ceiling(id) && std::ranges::count(own, id) == 0; });
  }
  file.environment = environment();
  // Seeds with the file's name, not with its path, which contains a random name. Every run of the tests has the same
  // noise.
  const std::string name = std::filesystem::path{out}.filename();
  std::mt19937_64 random{std::hash<std::string>{}(name + file.environment.date + variable("FAKE_SEED", ""))};
  bool failed = false;
  for (const CaseId& id : cases) {
    if (lists) fmt::print("{}\n", id.name());
    for (std::int64_t process = 0; process < processes; ++process) {
      Record& record = file.records.emplace_back(measured(id, plant, random));
      record.repetition_index = process;
      record.repetitions = processes;
      failed = failed || is_failure(record.status);
    }
  }
  file.options["processes"] = std::to_string(processes);
  if (!plant.empty()) file.options["plant"] = plant;
  if (!out.empty()) write_result_file(out, file);
  return failed ? 1 : 0;
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
