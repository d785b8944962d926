// Finds the results files of a folder.
#pragma once

#include <string>
#include <vector>

namespace tbench::history {

/// The .json and .json.gz files of a folder, each list by name.
struct ResultFolder {
  std::vector<std::string> results;  // files that begin like results, readable or not
  std::vector<std::string> others;
};

/// Lists the results files of a folder and of the folders below it, but for folders called `null`, `confirm` and
/// `heartbeat`.
/// @throws  UsageError  naming the folder, for one that cannot be read or has no results
[[nodiscard]] ResultFolder result_folder(const std::string& folder);

}  // namespace tbench::history
