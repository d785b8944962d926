#include "tbench/history/result_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <system_error>

#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::history {
namespace {

namespace fs = std::filesystem;

bool is_json_file(const fs::directory_entry& entry) {
  const std::string name = entry.path().string();
  std::error_code error;
  return entry.is_regular_file(error) && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

/// Returns the first bytes of a file's text, so that a regular expression does not search the whole text.
std::string start_of(const std::string& path) {
  constexpr std::size_t kBytes = 200;
  std::ifstream file{path, std::ios::binary};
  std::string start(kBytes, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return results::is_packed(start) ? results::read_text(path).substr(0, kBytes) : start;
}

/// Returns whether a file begins like results, even if it is cut off later. A file that cannot be unpacked may be
/// results, so the result is true.
bool begins_as_results(const std::string& path) {
  static const std::regex kStart{"^(\xEF\xBB\xBF)?\\s*\\{\\s*\"context\""};
  try {
    const std::string start = start_of(path);
    return std::regex_search(start, kStart, std::regex_constants::match_continuous);
  } catch (const UsageError&) {
    return true;
  }
}

/// Returns whether a folder is left out: these folders have the gate's own runs.
bool is_left_out(const fs::directory_entry& entry) {
  const fs::path name = entry.path().filename();
  std::error_code error;
  return entry.is_directory(error) && (name == "null" || name == "confirm" || name == "heartbeat");
}

}  // namespace

ResultFolder result_folder(const std::string& folder) {
  ResultFolder files;
  std::error_code error;
  fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied, error};
  const auto check = [&] {
    if (!error) return;
    throw UsageError{fmt::format("'{}': {}; give a folder that holds results files", folder, error.message())};
  };
  check();
  for (; entry != fs::recursive_directory_iterator{}; entry.increment(error), check()) {
    if (is_left_out(*entry)) entry.disable_recursion_pending();
    if (!is_json_file(*entry)) continue;
    const std::string path = entry->path().string();
    (begins_as_results(path) ? files.results : files.others).push_back(path);
  }
  std::ranges::sort(files.results);
  std::ranges::sort(files.others);
  if (!files.results.empty()) return files;
  throw UsageError{
      fmt::format("'{}': no results here or in subfolders; give a folder with files of --benchmark_out", folder)};
}

}  // namespace tbench::history
