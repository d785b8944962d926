// --tb_plugin: the user's own shared libraries and packages. The parent process never loads a plug-in: a child process
// describes it, and a worker loads it at the first of its cases.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/model/plugins.hpp"
#include "tbench/process/supervisor.hpp"

namespace tbench::bench {

/// A child process that loads plug-ins to describe them.
class PluginDescriber {
 public:
  explicit PluginDescriber(const Options& options);

  /// Loads a plug-in and returns its description.
  /// @throws  UsageError  as describe_plugins()
  [[nodiscard]] model::Plugin describe(const std::string& path);
  /// Returns the PyTorch version and the machine for which packages have to be made.
  /// @param path  plug-in that asks, for messages
  [[nodiscard]] model::PackageOrigin origin(const std::string& path);

 private:
  process::Supervisor child_;
};

/// Returns the plug-ins of the command line, which a child process has loaded. Python functions are only named, because
/// they are exported once their cases are known (bench/author/exports.hpp). A worker returns its parent's descriptions.
/// @throws  UsageError  in one line, naming the plug-in, if it ends or hangs the process that loads it, or is invalid
///                      in a way that model::describe_plugin() detects
[[nodiscard]] std::vector<model::Plugin> describe_plugins(const Options& options);

/// Adds the plug-ins to the families' implementations. Call it before the families are made.
/// @throws  UsageError  if a name is already taken
void add_plugins(const std::vector<model::Plugin>& plugins, const Options& options);

/// Returns the plug-ins as the text of Options::described_plugins.
[[nodiscard]] std::string to_text(const std::vector<model::Plugin>& plugins);

/// Serves as the child of describe_plugins(): answers requests until the parent closes the pipe.
/// @return  exit status
int run_plugin_describer(const Options& options);

/// Adds file and digest of each plug-in to the versions: for --tb_resume and `tbench diff`, another build of a plug-in
/// counts as another version.
void add_plugin_versions(Environment& environment, const std::vector<model::Plugin>& plugins);

/// Marks a plug-in's record above the ceiling of this GPU as `incorrect`, with the share in the reason.
void refuse_above_ceiling(Record& record);

}  // namespace tbench::bench
