#include "tbench/history/measured_run.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::history {
namespace {

const std::string kMachineSince = ", machine since ";
constexpr std::int64_t kMaxGap = std::int64_t{6} * 3600;  // seconds between the starts of two processes of one run

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
  const std::string journal = path + ".journal";
  return sha256(results::read_text(path) +
                (std::filesystem::exists(journal) ? results::read_text(journal) : std::string{}));
}

std::string switched(const char* name, const std::optional<bool>& value) {
  return fmt::format(", {} {}", name, value ? (*value ? "on" : "off") : "unknown");
}

/// A file and what it measured.
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
  RunFile file{
      .path = run.paths.front(), .digest = digest_of_file(run.paths.front()), .started = format_timestamp(*start)};
  return {std::move(file), std::move(run)};
}

std::vector<ReadFile> read_files(std::span<const std::string> paths) {
  std::vector<ReadFile> files;
  for (compare::ComparisonSide& run : compare::read_sides(paths)) files.push_back(dated(std::move(run)));
  std::ranges::stable_sort(files, {}, [](const ReadFile& f) { return std::tie(f.file.started, f.file.digest); });
  std::map<std::string, std::string> seen;
  for (const ReadFile& f : files) {
    const auto [other, is_new] = seen.emplace(f.file.digest, f.file.path);
    if (is_new) continue;
    throw UsageError{
        fmt::format("'{}' and '{}' hold the same results; give each file once", other->second, f.file.path)};
  }
  return files;
}

/// Why two files cannot belong to one run; absent if they can.
std::optional<std::string> difference(const Environment& a, const Environment& b) {
  if (fingerprint_of(a) != fingerprint_of(b)) {
    return fmt::format("different machines or settings, {} and {}", fingerprint_of(a), fingerprint_of(b));
  }
  if (epoch_of(a) != epoch_of(b)) return fmt::format("different libraries, {} and {}", epoch_of(a), epoch_of(b));
  if (a.sources_digest != b.sources_digest) {
    return fmt::format("different builds, of sources {:.12} and {:.12}", a.sources_digest, b.sources_digest);
  }
  return std::nullopt;
}

/// @param files  not empty, of one run, by start
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
  return run;
}

bool is_json_file(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().string();
  return entry.is_regular_file() && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

/// The first 200 bytes of a file's text; of a packed file its whole text.
std::string start_of(const std::string& path) {
  if (path.ends_with(".gz")) return results::read_text(path);
  std::ifstream file{path, std::ios::binary};
  std::string start(200, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start;
}

/// Whether a file begins as results do, even if it is cut off later.
bool begins_as_results(const std::string& path) {
  const std::string start = start_of(path);
  static const std::regex kStart{R"(^\s*\{\s*"context")"};
  return std::regex_search(start, kStart, std::regex_constants::match_continuous);
}

/// The .json files of a folder, and which of them are no results.
struct JsonFiles {
  std::vector<std::string> results;
  std::vector<std::string> others;
};

JsonFiles files_below(const std::string& folder) {
  JsonFiles files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry{folder, error};
  if (error) {
    throw UsageError{fmt::format("'{}': {}; give a folder that holds results files", folder, error.message())};
  }
  for (; entry != std::filesystem::recursive_directory_iterator{}; ++entry) {
    const auto name = entry->path().filename();
    if (entry->is_directory() && (name == "null" || name == "confirm" || name == "heartbeat"))
      entry.disable_recursion_pending();
    if (!is_json_file(*entry)) continue;
    const std::string path = entry->path().string();
    (begins_as_results(path) ? files.results : files.others).push_back(path);
  }
  std::ranges::sort(files.results);
  std::ranges::sort(files.others);
  if (files.results.empty()) {
    throw UsageError{
        fmt::format("'{}': no results in it or in its subfolders; give the folder of the files that "
                    "transformer_bench wrote with --benchmark_out",
                    folder)};
  }
  return files;
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
  throw UsageError{fmt::format(
      "'{}': a slowdown was planted in it ({}), so that it is no part of a history; 'tbench gate --heartbeat' "
      "says whether the gate finds it",
      run.files.front().path, run.planted)};
}

MeasuredRun read_measured_run(std::span<const std::string> paths) {
  std::vector<ReadFile> files = read_files(paths);
  if (files.empty()) throw UsageError{"no results files; give the files of one run"};
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
  JsonFiles found = files_below(folder);
  std::vector<ReadFile> files = read_files(found.results);
  std::ranges::stable_sort(files, {}, [](const ReadFile& f) {
    return std::tuple{folder_of(f), fingerprint_of(f.run.environments.front()), epoch_of(f.run.environments.front()),
                      f.run.environments.front().sources_digest, f.file.started};
  });
  std::vector<std::vector<ReadFile>> groups;
  for (ReadFile& file : files) {
    const bool joins =
        !groups.empty() && folder_of(groups.back().back()) == folder_of(file) && continues(groups.back().back(), file);
    if (!joins) groups.emplace_back();
    groups.back().push_back(std::move(file));
  }
  RunsOfFolder result;
  result.ignored = std::move(found.others);
  for (auto& group : groups) result.runs.push_back(run_of(std::move(group)));
  std::ranges::stable_sort(result.runs, {}, &MeasuredRun::started);
  return result;
}

}  // namespace tbench::history
