// The conclusion of a tbench command, at the beginning of its `--json` output: an outcome, the reasons and the shell
// command to run next. tools/tbench/output.schema.json lists the outcomes of each command.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {

struct Conclusion {
  std::string outcome;           // one of the command's outcomes; it agrees with the exit status
  std::vector<std::string> why;  // sentences that follow from the same document's numbers; at least one
  std::string next{};            // shell command to run next; empty if there is nothing to do
};

/// Returns a document with `schema` (`tbench.KIND/2`), `outcome`, `why` and `next` (null if there is nothing to do),
/// followed by the keys of `rest`.
/// @param kind  kind of document: diff, gate, ...
[[nodiscard]] Json concluded(const std::string& kind, const Conclusion& conclusion, Json rest);

/// A UsageError that the user can correct by running a command.
class CorrectableError : public UsageError {
 public:
  CorrectableError(const std::string& message, std::string next) : UsageError{message}, next_{std::move(next)} {}
  /// The next command, like Conclusion::next.
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  std::string next_;
};

// Shell commands: quoting, and the flags of a transformer_bench run, so that some of its cases can be run again in the
// same way.

/// Returns `text` in single quotes, as one word of a command line.
[[nodiscard]] std::string quoted(std::string_view text);

/// Joins words into a command line. Quotes only the words that a shell would not take literally.
[[nodiscard]] std::string command_line(std::span<const std::string> words);

/// Returns an extended regular expression that matches exactly the given names, at least one.
[[nodiscard]] std::string exact_filter(std::span<const std::string> names);

/// A plug-in of a run (--tb_plugin).
struct UsedPlugin {
  std::string name;  // the value of `impl`
  std::string file;  // without its folder, which results do not keep; ends in `:FUNCTION` for a Python function
};

/// Returns the plug-ins that Environment::versions names.
[[nodiscard]] std::vector<UsedPlugin> used_plugins(const Environment& environment);

/// The flags of a run, without the flags that name its output.
struct RunFlags {
  std::string of_all{"FLAGS"};  // flags of selection and measurement, without the filter; FLAGS if unknown
  std::string filter{};         // filter on case names; empty for all cases
  /// The program that wrote plain Google Benchmark JSON, as it was called; empty if unknown. Absent for
  /// transformer_bench.
  std::optional<std::string> program{};
};

/// Returns the flags of the run that wrote a results file, from the options in its header.
[[nodiscard]] RunFlags run_flags(const ResultFile& header);

/// The most cases that a command names one by one. For more cases, it repeats the whole run.
inline constexpr std::size_t kMaxNamed = 8;

/// Returns the flags that run these cases again in the same way, each preceded by a space. For no names, and for more
/// than kMaxNamed names, the flags run all cases of the run.
[[nodiscard]] std::string flags_for(const RunFlags& run, std::span<const std::string> names);

/// Returns the commands that trace the case with `program` and show the tables of the trace.
[[nodiscard]] std::string profile_command(const std::string& program, const RunFlags& run, const std::string& name);

/// Returns the commands that trace these cases and report their limits.
[[nodiscard]] std::string trace_command(const RunFlags& run, std::span<const std::string> names);

/// Returns the command that reports the limits of a case from a file with its trace.
[[nodiscard]] std::string limits_command(const std::string& path, const std::string& name);

/// Returns the command that runs each of these cases in a process of its own: if one crashes, the next still runs.
[[nodiscard]] std::string isolate_command(const std::string& program, const RunFlags& run,
                                          std::span<const std::string> names);

}  // namespace tbench::results
