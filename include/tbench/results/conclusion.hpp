// The conclusion of a command of tbench, with which its `--json` begins: an outcome, the causes, and the command for a
// shell that follows from them. tools/tbench/output.schema.json has the outcomes of each command.
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
  std::string outcome;           // one of the command's words; it agrees with the exit status
  std::vector<std::string> why;  // sentences that follow from the same document's numbers; at least one
  std::string next{};            // for a shell; empty: there is nothing to do
};

/// `schema` (`tbench.KIND/2`), `outcome`, `why` and `next` (null where there is nothing to do), then the keys of
/// `rest`.
/// @param kind  of the document: diff, gate, ...
[[nodiscard]] Json concluded(const std::string& kind, const Conclusion& conclusion, Json rest);

/// A UsageError that a command puts right.
class CorrectableError : public UsageError {
 public:
  CorrectableError(const std::string& message, std::string next) : UsageError{message}, next_{std::move(next)} {}
  /// The next command, like Conclusion::next.
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  std::string next_;
};

// Commands for a shell: quoting, and how a run of transformer_bench was asked for, so that some of its cases can be run
// again in the same way.

/// `text` as one word of a command line, in single quotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// Words as a command line: in quotes only those that a shell would not read as they are.
[[nodiscard]] std::string command_line(std::span<const std::string> words);

/// An extended regular expression that matches exactly the names given, of which there is at least one.
[[nodiscard]] std::string exact_filter(std::span<const std::string> names);

/// The flags of a run, without the flags that name its output.
struct RunFlags {
  std::string of_all{"FLAGS"};  // what was selected but for the filter, and how it was measured; FLAGS: not known
  std::string filter{};         // on the names of cases; empty: all
  /// The program that wrote plain Google Benchmark JSON, as it was called; empty: not told. Absent: transformer_bench.
  std::optional<std::string> program{};
};

/// Returns the flags of the run that wrote a results file, from the options in its header.
[[nodiscard]] RunFlags run_flags(const ResultFile& header);

/// Cases that a command names one by one; of more it runs all of the run.
inline constexpr std::size_t kMaxNamed = 8;

/// The flags that run these cases again in the same way, a blank before each; for none, and for more than kMaxNamed,
/// all cases of the run.
[[nodiscard]] std::string flags_for(const RunFlags& run, std::span<const std::string> names);

/// The commands that trace one of these cases with `program`, and show the tables of that trace.
[[nodiscard]] std::string profile_command(const std::string& program, const RunFlags& run, const std::string& name);

/// The commands that trace these cases and say what limits them.
[[nodiscard]] std::string trace_command(const RunFlags& run, std::span<const std::string> names);

/// The command that says what limits a case of a file with its trace.
[[nodiscard]] std::string limits_command(const std::string& path, const std::string& name);

/// The command that runs these cases, each in a process of its own: where one crashes, the next still runs.
[[nodiscard]] std::string isolate_command(const std::string& program, const RunFlags& run,
                                          std::span<const std::string> names);

}  // namespace tbench::results
