#include "tbench/report/measured_run.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "case_filter.hpp"
#include "result_parsing.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/core/timestamp.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::report {
namespace {

constexpr std::int64_t kLongestGap = std::int64_t{6} * 3600;  // seconds between the starts of two processes of one run

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
  return sha256(read_text(path) + (std::filesystem::exists(journal) ? read_text(journal) : std::string{}));
}

std::string switched(const char* name, const std::optional<bool>& value) {
  return fmt::format(", {} {}", name, value ? (*value ? "on" : "off") : "unknown");
}

/// A file and what it measured.
struct ReadFile {
  RunFile file;
  ComparedRun run;
};

ReadFile dated(ComparedRun run) {
  if (!run.environment) {
    refuse_file(run.path, "plain Google Benchmark JSON, which does not tell on what it was measured", kMakeResultFile);
  }
  const std::optional<std::int64_t> start = parse_timestamp(run.environment->date);
  if (!start) {
    refuse_file(run.path, fmt::format("'{}' is no date (ISO 8601)", run.environment->date), kMakeResultFile);
  }
  RunFile file{.path = run.path, .digest = digest_of_file(run.path), .started = format_timestamp(*start)};
  return {std::move(file), std::move(run)};
}

std::vector<ReadFile> read_files(std::span<const std::string> paths) {
  std::vector<ReadFile> files;
  for (ComparedRun& run : read_compared_runs(paths)) files.push_back(dated(std::move(run)));
  std::ranges::stable_sort(files, {}, [](const ReadFile& f) { return std::tie(f.file.started, f.file.digest); });
  std::map<std::string, std::string> seen;
  for (const ReadFile& f : files) {
    const auto [other, is_new] = seen.emplace(f.file.digest, f.file.path);
    if (is_new) continue;
    throw UsageError{
        fmt::format("'{}' and '{}' hold the same results; give every file once", other->second, f.file.path)};
  }
  return files;
}

/// Why two files cannot be of one run; nothing if they can.
std::optional<std::string> difference(const Environment& a, const Environment& b) {
  if (fingerprint_of(a) != fingerprint_of(b)) {
    return fmt::format("another machine or setting: {} against {}", fingerprint_of(a), fingerprint_of(b));
  }
  if (epoch_of(a) != epoch_of(b)) return fmt::format("other libraries: {} against {}", epoch_of(a), epoch_of(b));
  if (a.sources_digest != b.sources_digest) {
    return fmt::format("another build: sources {:.12} against {:.12}", a.sources_digest, b.sources_digest);
  }
  return std::nullopt;
}

/// @param files  not empty, of one run, by start
MeasuredRun run_of(std::vector<ReadFile> files) {
  MeasuredRun run;
  run.environment = *files.front().run.environment;
  run.started = files.front().file.started;
  run.fingerprint = fingerprint_of(run.environment);
  run.epoch = epoch_of(run.environment);
  std::vector<std::string> digests;
  std::vector<ComparedRun> processes;
  for (ReadFile& f : files) {
    digests.push_back(f.file.digest);
    run.files.push_back(std::move(f.file));
    processes.push_back(std::move(f.run));
  }
  std::ranges::sort(digests);
  run.digest = sha256(join(digests, "\n"));
  ComparisonSide side = side_of(std::move(processes));
  run.cases = std::move(side.cases);
  run.warnings = std::move(side.warnings);
  return run;
}

bool is_json_file(const std::filesystem::directory_entry& entry) {
  return entry.is_regular_file() && entry.path().extension() == ".json";
}

/// Whether a file begins as results do, also if it is cut off later.
bool begins_as_results(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string start(200, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
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
    if (entry->is_directory() && (name == "null" || name == "confirm")) entry.disable_recursion_pending();
    if (!is_json_file(*entry)) continue;
    const std::string path = entry->path().string();
    (begins_as_results(path) ? files.results : files.others).push_back(path);
  }
  std::ranges::sort(files.results);
  std::ranges::sort(files.others);
  if (files.results.empty()) {
    throw UsageError{
        fmt::format("'{}': no results in it or below; give the folder that holds what transformer_bench "
                    "wrote with --benchmark_out",
                    folder)};
  }
  return files;
}

std::string folder_of(const ReadFile& file) { return std::filesystem::path{file.file.path}.parent_path().string(); }

bool continues(const ReadFile& before, const ReadFile& file) {
  const std::int64_t gap = parse_timestamp(file.file.started).value() - parse_timestamp(before.file.started).value();
  return gap <= kLongestGap && !difference(*before.run.environment, *file.run.environment);
}

}  // namespace

std::string fingerprint_of(const Environment& environment) {
  const std::string setting = fmt::format(", clocks {}, {}", environment.clock_policy, environment.build_type);
  if (!environment.gpu) return fmt::format("{}, {} cores{}", environment.cpu_name, environment.cpu_cores, setting);
  const GpuFacts& gpu = *environment.gpu;
  constexpr double kGibi = 1 << 30;
  std::string text = fmt::format("{}, {} SMs, {:.0f} GiB", gpu.name, gpu.sm_count,
                                 std::round(static_cast<double>(gpu.memory_bytes) / kGibi));
  text += switched("ECC", gpu.ecc) + switched("MIG", gpu.mig);
  if (gpu.power_limit_w) text += fmt::format(", {:.0f} W", *gpu.power_limit_w);
  return text + setting;
}

std::string epoch_of(const Environment& environment) {
  std::string text;
  for (const char* name : {"driver", "cuda_runtime", "cublas", "cudnn", "libtorch"}) {
    const auto version = environment.versions.find(name);
    if (version != environment.versions.end()) text += fmt::format("{} {}, ", name, version->second);
  }
  return text + fmt::format("schema {}", kSchemaVersion);
}

MeasuredRun read_measured_run(std::span<const std::string> paths) {
  std::vector<ReadFile> files = read_files(paths);
  if (files.empty()) throw UsageError{"no results files; give those of one run"};
  for (const ReadFile& file : files) {
    const auto found = difference(*files.front().run.environment, *file.run.environment);
    if (!found) continue;
    throw NotComparable{fmt::format("'{}' and '{}' are not of one run: {}; give the files of one night's processes",
                                    files.front().file.path, file.file.path, *found)};
  }
  return run_of(std::move(files));
}

std::set<std::string> matching_keys(const MeasuredRun& run, const std::string& pattern, const std::string& flag) {
  std::set<std::string> keys;
  if (pattern.empty()) return keys;
  const CaseFilter passes{pattern, flag};
  for (const ComparedCase& c : run.cases) {
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
    return std::tuple{folder_of(f), fingerprint_of(*f.run.environment), epoch_of(*f.run.environment),
                      f.run.environment->sources_digest, f.file.started};
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

}  // namespace tbench::report
