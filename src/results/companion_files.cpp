#include "tbench/results/companion_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kMakePytorchTimes =
    "give a file that tools/time_pytorch_model.py or tools/time_pytorch_ceilings.py wrote";
constexpr const char* kMakeNcuTimes = "give a file that tools/ncu_kernel_times.py wrote";
constexpr const char* kMakeManifest = "give the manifest.json of a folder of results";
constexpr const char* kMakeSelfComparison = "give the aa_verdict.json that tests/bench/aa_check.py wrote";

/// Reads a file as JSON, and converts the JSON.
/// @param convert  returns the file's content from its JSON; throws if the JSON has another form
/// @throws         UsageError  naming the file, the problem and `remedy`
template <class Convert>
auto read_companion(const std::string& path, const char* remedy, const Convert& convert) {
  const std::string text = read_text(path);
  try {
    return convert(parse_json(text));
  } catch (const std::exception& error) {
    refuse_file(path, error.what(), remedy);
  }
}

/// Reads the keys that begin with `which`. Files of earlier versions have `_verdict` instead of `_outcome`.
SelfComparison::Seen seen(const OrderedJson& entry, const std::string& which) {
  const bool has_outcome = entry.contains(which + "_outcome");
  return {.ratio = entry.at(which + "_ratio").get<double>(),
          .outcome = entry.at(which + (has_outcome ? "_outcome" : "_verdict")).get<std::string>()};
}

std::vector<ManifestEntry> manifest_from_json(const OrderedJson& json) {
  std::vector<ManifestEntry> files;
  for (const OrderedJson& entry : json.at("files")) {
    ManifestEntry file{.file = entry.at("file").get<std::string>(),
                       .what = entry.at("what").get<std::string>(),
                       .machine = entry.at("machine").get<std::string>(),
                       .build = {}};
    if (entry.contains("build")) file.build = entry.at("build").get<std::string>();
    files.push_back(std::move(file));
  }
  return files;
}

/// Returns how the manifest contradicts the results themselves, or nullopt if they agree.
std::optional<std::string> difference(const ManifestEntry& entry, const Environment& environment) {
  if (const std::string machine = machine_of(environment); machine != entry.machine) {
    return fmt::format("machine {}, the file was made on {}", entry.machine, machine);
  }
  if (build_name(environment) != *entry.build) {
    return fmt::format("build {}, the file was made by {}", *entry.build, build_name(environment));
  }
  return std::nullopt;
}

/// Returns the paths of the packed results below a folder, relative to the folder.
std::vector<std::string> packed_files_below(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder.empty() ? "." : folder}) {
    const std::string name = entry.path().string();
    if (entry.is_regular_file() && name.ends_with(".json.gz")) {
      files.push_back(std::filesystem::relative(entry.path(), folder.empty() ? "." : folder).string());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string machine_of(const Environment& environment) {
  constexpr std::size_t kDigits = 4;
  if (!environment.gpu) return "no GPU";
  std::vector<std::string> machines;
  for (const std::string& uuid : gpu_uuids(environment)) {  // `GPU-` and the digits
    machines.push_back(uuid.substr(std::min(uuid.find('-') + 1, uuid.size()), kDigits));
  }
  return join(machines, "+");
}

std::vector<PytorchTime> read_pytorch_times(const std::string& path) {
  return read_companion(path, kMakePytorchTimes, [](const OrderedJson& json) {
    std::vector<PytorchTime> times;
    for (const auto& [name, entry] : json.items()) {
      PytorchTime time{.id = CaseId::parse(name), .median_ms = entry.at("median_ms").get<double>(), .per_second = {}};
      if (entry.contains("per_second")) time.per_second = entry.at("per_second").get<double>();
      times.push_back(std::move(time));
    }
    return times;
  });
}

NcuTimes read_ncu_times(const std::string& path) {
  return read_companion(path, kMakeNcuTimes, [](const OrderedJson& json) {
    NcuTimes times{.id = CaseId::parse(json.at("case").get<std::string>()), .kernels = {}};
    for (const OrderedJson& entry : json.at("kernels")) {
      times.kernels.push_back({.symbol = entry.at("symbol").get<std::string>(),
                               .launches = entry.at("launches").get<std::int64_t>(),
                               .total_us = entry.at("total_us").get<double>()});
    }
    return times;
  });
}

std::vector<SelfComparison> read_self_comparison(const std::string& path) {
  return read_companion(path, kMakeSelfComparison, [](const OrderedJson& json) {
    std::vector<SelfComparison> cases;
    for (const OrderedJson& entry : json.at("cases")) {
      cases.push_back({.id = CaseId::parse(entry.at("case").get<std::string>()),
                       .same = seen(entry, "aa"),
                       .other = seen(entry, "ab"),
                       .planted = seen(entry, "planted"),
                       .factor = entry.at("factor").get<double>(),
                       .detectable = entry.at("finds").get<double>()});
    }
    return cases;
  });
}

std::vector<ManifestEntry> read_manifest(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
  std::vector<ManifestEntry> files = read_companion(path, kMakeManifest, &manifest_from_json);
  for (const ManifestEntry& entry : files) {
    const std::string file = (folder / entry.file).string();
    if (!entry.build) {
      static_cast<void>(read_text(file));
      continue;
    }
    if (const auto found = difference(entry, read_result_file(file).environment)) {
      throw UsageError{fmt::format("'{}': {}: {}; correct the manifest", path, entry.file, *found)};
    }
  }
  for (const std::string& file : packed_files_below(folder)) {
    if (std::ranges::find(files, file, &ManifestEntry::file) == files.end()) {
      throw UsageError{fmt::format("'{}': {} is not in it; say what it is", path, file)};
    }
  }
  return files;
}

}  // namespace tbench::results
