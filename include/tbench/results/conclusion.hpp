// What a command of tbench comes to, as its `--json` begins: a verdict, the causes, and the command that follows from
// them. tools/tbench/output.schema.json has the verdicts of each command.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::results {

struct Conclusion {
  std::string verdict;           // one of the command's words; it agrees with the exit status
  std::vector<std::string> why;  // sentences that follow from the same document's numbers; at least one
  std::string next{};            // for a shell; empty: there is nothing to do
};

/// `schema` (`tbench.KIND/1`), `verdict`, `why` and `next` (null where there is nothing to do), then the keys of
/// `rest`.
/// @param kind  of the document: diff, gate, ...
[[nodiscard]] Json concluded(const std::string& kind, const Conclusion& conclusion, Json rest);

/// A UsageError that a command puts right.
class CorrectableError : public UsageError {
 public:
  CorrectableError(const std::string& message, std::string next) : UsageError{message}, next_{std::move(next)} {}
  /// As Conclusion::next.
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  std::string next_;
};

}  // namespace tbench::results
