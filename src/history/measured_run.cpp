#include "tbench/history/measured_run.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/history/result_folder.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::history {
namespace {

const std::string kMachineSince = ", machine since ";
constexpr std::int64_t kMaxGap =
    std::int64_t{6} * 3600;  // maximum of seconds between the starts of two successive processes of a run

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error{"libcrypto has no SHA-256"};
  }
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest.at(i));
  return text;
}

std::string digest_of_file(const std::string& path) {
  return sha256(results::read_text(path) +
                (results::has_journal(path) ? results::read_text(results::journal_path(path)) : std::string{}));
}

std::string switched(const char* name, const std::optional<bool>& value) {
  return fmt::format(", {} {}", name, value ? (*value ? "on" : "off") : "unknown");
}

/// A results file and its measurements.
struct ReadFile {
  RunFile file;
  compare::ComparisonSide run;
};

ReadFile dated(compare::ComparisonSide run) {
  if (run.environments.empty()) {
    results::refuse_file(run.paths.front(),
                         "plain Google Benchmark JSON, which does not say on which machine it was measured",
                         results::kMakeResultFile);
  }
  const std::optional<std::int64_t> start = parse_timestamp(run.environments.front().date);
  if (!start) {
    results::refuse_file(run.paths.front(), fmt::format("'{}' is not an ISO 8601 date", run.environments.front().date),
                         results::kMakeResultFile);
  }
  if (!std::filesystem::is_regular_file(run.paths.front())) {
    results::refuse_file(run.paths.front(), "cannot be read twice, and a history tells runs apart by their files",
                         "give a regular file");
  }
  RunFile file{
      .path = run.paths.front(), .digest = digest_of_file(run.paths.front()), .started = format_timestamp(*start)};
  return {std::move(file), std::move(run)};
}

std::vector<ReadFile> read_files(std::span<const std::string> paths) {
  std::vector<ReadFile> files;
  for (compare::ComparisonSide& run : compare::read_sides(paths)) files.push_back(dated(std::move(run)));
  std::ranges::stable_sort(files, {}, [](const ReadFile& f) { return std::tie(f.file.started, f.file.digest); });
  return files;
}

/// Finds files that repeat others, in whole or in part.
class Repeats {
 public:
  /// @param file  must outlive this
  /// @throws      UsageError  naming both files
  void add(const ReadFile& file) {
    const auto [other, is_new] = paths_.emplace(file.file.digest, file.file.path);
    if (is_new) return copies_.add(file.run);
    throw UsageError{
        fmt::format("'{}' and '{}' hold the same results; give each file once", other->second, file.file.path)};
  }

 private:
  std::map<std::string, std::string> paths_;  // by digest
  compare::CopyFinder copies_;
};

/// Leaves out every file that repeats an earlier one.
/// @param refused  gets the reasons
void drop_repeats(std::vector<ReadFile>& files, std::vector<std::string>& refused) {
  Repeats repeats;
  std::set<const ReadFile*> dropped;
  for (const ReadFile& file : files) {
    try {
      repeats.add(file);
    } catch (const UsageError& error) {
      refused.emplace_back(error.what());
      dropped.insert(&file);
    }
  }
  std::vector<ReadFile> kept;
  for (ReadFile& file : files) {
    if (!dropped.contains(&file)) kept.push_back(std::move(file));
  }
  files = std::move(kept);
}

/// Returns why two files cannot belong to one run, or nullopt if they can.
std::optional<std::string> difference(const Environment& a, const Environment& b) {
  if (fingerprint_of(a) != fingerprint_of(b)) {
    return fmt::format("different machines or settings, {} and {}", fingerprint_of(a), fingerprint_of(b));
  }
  if (epoch_of(a) != epoch_of(b)) return fmt::format("different libraries, {} and {}", epoch_of(a), epoch_of(b));
  if (const auto found = build_difference(a, b)) return "different builds: " + *found;
  return std::nullopt;
}

/// Makes a run from its files.
/// @param files  files of one run, not empty, in the order of their starts
MeasuredRun run_of(std::vector<ReadFile> files) {
  MeasuredRun run;
  run.environment = files.front().run.environments.front();
  run.started = files.front().file.started;
  run.fingerprint = fingerprint_of(run.environment);
  run.epoch = epoch_of(run.environment);
  std::vector<std::string> digests;
  std::vector<compare::ComparisonSide> processes;
  for (ReadFile& f : files) {
    digests.push_back(f.file.digest);
    run.files.push_back(std::move(f.file));
    processes.push_back(std::move(f.run));
  }
  std::ranges::sort(digests);
  run.digest = sha256(join(digests, "\n"));
  compare::ComparisonSide side = compare::merged(std::move(processes));
  run.cases = std::move(side.cases);
  run.warnings = std::move(side.warnings);
  run.planted = std::move(side.planted);
  run.run = std::move(side.run);
  run.was_interrupted = side.was_interrupted;
  run.planned = std::move(side.planned);
  run.way = std::move(side.way);
  run.suite = std::move(side.suite);
  run.other_processes_at_end = side.other_processes_at_end;
  for (const Environment& environment : side.environments) {
    if (environment.gpu) run.other_processes = std::max(run.other_processes, environment.gpu->other_processes);
  }
  return run;
}

/// Returns why a results file cannot be read, or nullopt if it can.
std::optional<std::string> refusal_of(const std::string& path) {
  try {
    static_cast<void>(dated(compare::read_side(path)));
    return std::nullopt;
  } catch (const UsageError& error) {
    return error.what();
  } catch (const compare::NotComparable& error) {
    return error.what();
  }
}

/// Reads the files that can be read. Only if one cannot be read, each file is checked by itself.
std::vector<ReadFile> read_all_but(std::vector<std::string> paths, std::vector<std::string>& refused) {
  try {
    return read_files(paths);
  } catch (const std::runtime_error&) {
    std::erase_if(paths, [&](const std::string& path) {
      const std::optional<std::string> refusal = refusal_of(path);
      if (refusal) refused.push_back(*refusal);
      return refusal.has_value();
    });
    if (refused.empty()) throw;
    return read_files(paths);
  }
}

std::string folder_of(const ReadFile& file) { return std::filesystem::path{file.file.path}.parent_path().string(); }

bool continues(const ReadFile& before, const ReadFile& file) {
  const std::int64_t gap = parse_timestamp(file.file.started).value() - parse_timestamp(before.file.started).value();
  return gap <= kMaxGap && !difference(before.run.environments.front(), file.run.environments.front());
}

}  // namespace

std::string fingerprint_of(const Environment& environment) {
  const std::string setting = fmt::format(", clocks {}, {}", environment.clock_policy, environment.build_type);
  if (!environment.gpu) return fmt::format("{}, {} cores{}", environment.cpu_name, environment.cpu_cores, setting);
  const GpuFacts& gpu = *environment.gpu;
  constexpr double kGibi = 1 << 30;
  std::string text = fmt::format("{} {}, {} SMs, {:.0f} GiB", gpu.name, gpu.uuid.empty() ? "of unknown UUID" : gpu.uuid,
                                 gpu.sm_count, std::round(static_cast<double>(gpu.memory_bytes) / kGibi));
  text += switched("ECC", gpu.ecc) + switched("MIG", gpu.mig);
  if (gpu.power_limit_w) text += fmt::format(", {:.0f} W", *gpu.power_limit_w);
  return fmt::format("{}, {}{}", text, environment.cpu_name, setting);
}

std::string model_of(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : environment.cpu_name;
}

std::string pool_of(Environment environment) {
  environment.cpu_name.clear();
  if (environment.gpu) environment.gpu->uuid.clear();
  return fingerprint_of(environment);
}

std::string epoch_of(const Environment& environment) {
  std::vector<std::string> versions;
  for (const char* name : {"driver", "cuda_runtime", "cublas", "cudnn", "libtorch"}) {
    const auto version = environment.versions.find(name);
    if (version != environment.versions.end()) versions.push_back(fmt::format("{} {}", name, version->second));
  }
  return versions.empty() ? "unknown software" : join(versions, ", ");
}

std::string machine_epoch(const std::string& epoch, const std::string& started) {
  return fmt::format("{}{}{}", epoch, kMachineSince, started);
}

bool is_of_epoch(const std::string& epoch, const std::string& measured) {
  return epoch == measured || epoch.starts_with(measured + kMachineSince);
}

void refuse_planted(const MeasuredRun& run) {
  if (run.planted.empty()) return;
  throw UsageError{
      fmt::format("'{}': a slowdown was planted in it ({}), so it cannot enter a history; 'tbench gate --heartbeat' "
                  "says whether the gate finds it",
                  run.files.front().path, run.planted)};
}

MeasuredRun read_measured_run(std::span<const std::string> paths) {
  std::vector<ReadFile> files = read_files(paths);
  if (files.empty()) throw UsageError{"no results files; give the files of one run"};
  Repeats repeats;
  for (const ReadFile& file : files) repeats.add(file);
  for (const ReadFile& file : files) {
    const auto found = difference(files.front().run.environments.front(), file.run.environments.front());
    if (!found) continue;
    throw compare::NotComparable{fmt::format("'{}' and '{}' belong to different runs: {}; give the files of one run",
                                             files.front().file.path, file.file.path, *found)};
  }
  return run_of(std::move(files));
}

std::set<std::string> matching_keys(const MeasuredRun& run, const std::string& pattern, const std::string& flag) {
  std::set<std::string> keys;
  if (pattern.empty()) return keys;
  const CaseFilter passes{pattern, flag};
  for (const results::MeasuredCase& c : run.cases) {
    if (passes(c.id.name())) keys.insert(c.key);
  }
  if (keys.empty()) {
    throw UsageError{fmt::format("{}: none of {} cases matches '{}'", flag, run.cases.size(), pattern)};
  }
  return keys;
}

RunsOfFolder read_runs_of_folder(const std::string& folder) {
  ResultFolder found = result_folder(folder);
  RunsOfFolder result;
  std::vector<ReadFile> files = read_all_but(found.results, result.refused);
  drop_repeats(files, result.refused);
  std::ranges::stable_sort(files, {}, [](const ReadFile& f) {
    return std::tuple{folder_of(f), fingerprint_of(f.run.environments.front()), epoch_of(f.run.environments.front()),
                      build_key(f.run.environments.front()), f.file.started};
  });
  std::vector<std::vector<ReadFile>> groups;
  for (ReadFile& file : files) {
    const bool joins =
        !groups.empty() && folder_of(groups.back().back()) == folder_of(file) && continues(groups.back().back(), file);
    if (!joins) groups.emplace_back();
    groups.back().push_back(std::move(file));
  }
  result.ignored = std::move(found.others);
  for (auto& group : groups) result.runs.push_back(run_of(std::move(group)));
  std::ranges::stable_sort(result.runs, {}, &MeasuredRun::started);
  return result;
}

}  // namespace tbench::history
