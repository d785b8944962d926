// Runs one case and gives its records, in this process or in a child.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "family.hpp"
#include "options.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// Told what a case is doing: "building", "verifying", "warming up", "sampling", "measuring memory".
using Activity = std::function<void(std::string_view)>;
/// Whether the user asked to stop.
using StopRequested = std::function<bool()>;

class CaseRunner {
 public:
  virtual ~CaseRunner() = default;
  /// Where the cases run. A supervised runner starts its child to find out.
  /// @throws  std::runtime_error  if that fails; UsageError if the machine is not what was asked for
  [[nodiscard]] virtual const Environment& environment() = 0;
  /// One record a repetition; empty if the user asked to stop before the case was done. Never throws for what a case
  /// does.
  [[nodiscard]] virtual std::vector<Record> run(const CaseId& id, const Activity& activity,
                                                const StopRequested& stop) = 0;
  /// Sees to it that the next case runs in a process that has measured nothing before.
  /// @throws  std::logic_error  where cases run in this process
  virtual void renew_process() = 0;
};

/// Runs cases in children of this program's own executable, started with the same arguments.
[[nodiscard]] std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options,
                                                                 std::vector<std::string> arguments);

}  // namespace tbench::bench
