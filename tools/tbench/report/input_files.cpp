// Reads the files of `tbench report`: results, the journals of killed runs, and the results in folders.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "help/messages.hpp"
#include "report.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/history/result_folder.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::tool {
namespace {

/// Returns the file's name, or its path if two files have the same name.
std::string label_of(const std::string& path, const std::vector<std::string>& paths) {
  const auto name = std::filesystem::path{path}.filename();
  std::size_t same = 0;
  for (const std::string& other : paths) same += std::filesystem::path{other}.filename() == name ? 1 : 0;
  return same > 1 ? path : name.string();
}

}  // namespace

const results::ResultFile& ResultFiles::at(const std::string& path) {
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  const std::string whole = path_of(path);
  results::ResultFile file = results::read_result_file(whole);
  if (!results::has_journal(whole)) return files_.emplace(path, std::move(file)).first->second;
  const std::size_t count = file.records.size();
  if (const auto merged = results::load_for_resume(whole)) file = *merged;
  if (file.records.size() > count) {
    note(fmt::format("{} of {} cases come from '{}': the run was killed", file.records.size() - count,
                     file.records.size(), results::journal_path(path)));
  }
  return files_.emplace(path, std::move(file)).first->second;
}

std::vector<results::NamedResults> ResultFiles::all(const std::vector<std::string>& paths) {
  std::vector<results::NamedResults> results;
  std::map<std::string, UsageError> bad;
  for (const std::string& path : paths) {
    try {
      results.push_back({label_of(path, paths), at(path)});
    } catch (const UsageError& error) {
      if (!may_pass_over_) throw;
      bad.emplace(path, error);
    }
  }
  if (results.empty() && !bad.empty()) throw UsageError{bad.at(paths.front())};
  for (const auto& [path, error] : bad) {
    if (passed_over_.insert(path).second) warn(fmt::format("skipped: {}", error.what()));
  }
  return results;
}

void ResultFiles::warn(const std::string& problem) {
  tool::warn(problem);
  has_warned_ = true;
}

std::vector<std::string> without_folders(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    history::ResultFolder found = history::result_folder(path);
    std::ranges::move(found.results, std::back_inserter(files));
    if (found.others.empty()) continue;
    note(fmt::format("'{}': left out {} that {} no results, such as '{}'", path, counted_in(found.others, ".json file"),
                     agreeing(found.others.size(), "holds", "hold"), found.others.front()));
  }
  return files;
}

}  // namespace tbench::tool
