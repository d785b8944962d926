// Running a kept build and the candidate's in turns on the cases that look regressed.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tbench/gate/gate.hpp"
#include "tbench/process/scratch_folder.hpp"

namespace tbench::tool {

/// The folder of the second look's results: the requested folder, otherwise a temporary folder that is removed at the
/// end.
class ConfirmationFolder {
 public:
  explicit ConfirmationFolder(std::string asked) : asked_{std::move(asked)} {}
  /// Makes it if it is not there.
  /// @throws  UsageError
  const std::string& make();

 private:
  std::string asked_;
  std::optional<process::ScratchFolder> ours_;
};

/// Runs `base` and `next` in blocks of base, next, next, base, every run a fresh process. Each is a command as a shell
/// reads it, to which `--benchmark_filter=...` and `--benchmark_out=FILE` are added; what it prints goes to stderr. A
/// command ends when we do (process::run_bound).
/// @param folder  where the results go, as `LABEL_1_base_1.json` and so on; outlives the function
/// @throws        from the function: UsageError for a command that writes no results the first time it runs, and for
///                results that cannot be read; process::Interrupted
[[nodiscard]] gate::Confirm confirmation(std::string base, std::string next, ConfirmationFolder& folder,
                                         std::string label);

/// Runs a command once, as confirmation() runs `base`. More names than a command line can take become all of its cases.
/// @param folder  where the results go, as `LABEL.json`
/// @throws        from the function: as the function that confirmation() returns
[[nodiscard]] gate::RunOnce run_once(std::string command, ConfirmationFolder& folder, std::string label);

}  // namespace tbench::tool
