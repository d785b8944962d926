// --tb_plugin: what the program does about shared libraries and packages of the user's own. The parent never loads one:
// a child process describes them to it, and workers load one when they come to its first case.
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

  /// @throws  UsageError  as describe_plugins
  [[nodiscard]] model::Plugin describe(const std::string& path);
  /// Returns the PyTorch and the machine that packages have to be made for.
  /// @param path  of the plug-in that asks, for messages
  [[nodiscard]] model::PackageOrigin origin(const std::string& path);

 private:
  process::Supervisor child_;
};

/// The plug-ins of the command line, loaded by a child process; a function in Python is only named: nothing is exported
/// before it is known which cases it has (bench/author/exports.hpp). In a worker, as its parent has described them.
/// @throws  UsageError  in one line, naming the plug-in: one that ends or hangs the process that loads it, or is wrong
///                      in one of the ways that model::describe_plugin() finds
[[nodiscard]] std::vector<model::Plugin> describe_plugins(const Options& options);

/// Adds them to the families' implementations: before the families are made.
/// @throws  UsageError  for a name that is taken
void add_plugins(const std::vector<model::Plugin>& plugins, const Options& options);

/// The plug-ins as Options::described_plugins has them.
[[nodiscard]] std::string to_text(const std::vector<model::Plugin>& plugins);

/// The child's side of describe_plugins(): answers requests until the parent closes the pipe.
/// @return  exit status
int run_plugin_describer(const Options& options);

/// Notes file and digest of each plug-in among the versions: another build of a plug-in is
/// another version, for --tb_resume and `tbench diff`.
void add_plugin_versions(Environment& environment, const std::vector<model::Plugin>& plugins);

/// A plug-in's case above the ceiling of this GPU is no result: `incorrect`, with the share.
void refuse_above_ceiling(Record& record);

}  // namespace tbench::bench
