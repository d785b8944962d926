// Alternates runs of a kept build and of the candidate's build on the cases that look regressed.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tbench/gate/gate.hpp"
#include "tbench/process/scratch_folder.hpp"

namespace tbench::tool {

/// The folder for the results of the confirmation: the requested folder, or a temporary folder, removed at the end, if
/// none was requested.
class ConfirmationFolder {
 public:
  explicit ConfirmationFolder(std::string asked) : asked_{std::move(asked)} {}
  /// Makes the folder if it does not exist, and returns its path.
  /// @throws  UsageError  if it cannot be made
  const std::string& make();

 private:
  std::string asked_;
  std::optional<process::ScratchFolder> ours_;
};

/// Returns a function that runs `base` and `next` in blocks of base, next, next, base, each run in a fresh process.
/// `base` and `next` are commands in the syntax of a shell, to which `--benchmark_filter=...` and
/// `--benchmark_out=FILE` are added. Their output goes to stderr. A command ends when this program does
/// (process::run_bound).
/// @param folder  folder for the results, `LABEL_1_base_1.json` and so on; must outlive the function
/// @throws        from the returned function: UsageError for a command that writes no results in its first run, and for
///                     results that cannot be read; process::Interrupted
[[nodiscard]] gate::Confirm confirmation(std::string base, std::string next, ConfirmationFolder& folder,
                                         std::string label);

/// Returns a function that runs a command once, like confirmation() runs `base`. If the names are too long for a
/// command line, it runs all cases of the command.
/// @param folder  folder for the results, `LABEL.json`
/// @throws        from the returned function: as the function that confirmation() returns
[[nodiscard]] gate::RunOnce run_once(std::string command, ConfirmationFolder& folder, std::string label);

}  // namespace tbench::tool
