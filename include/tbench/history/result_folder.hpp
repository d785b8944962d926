// Which files of a folder are results.
#pragma once

#include <string>
#include <vector>

namespace tbench::history {

/// The .json and .json.gz files of a folder, each list by name.
struct ResultFolder {
  std::vector<std::string> results;  // that begin as results do, whether or not they can be read
  std::vector<std::string> others;
};

/// Lists the results files of a folder and of the folders below it, but for folders called `null`, `confirm` and
/// `heartbeat`.
/// @throws  UsageError  naming the folder, for one that cannot be read or has no results
[[nodiscard]] ResultFolder result_folder(const std::string& folder);

}  // namespace tbench::history
