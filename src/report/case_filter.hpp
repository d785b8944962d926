// The regular expression of --filter. Private to the report layer.
#pragma once

#include <regex>
#include <string>

namespace tbench::report {

/// Whether a case name matches, found anywhere in it; an empty expression passes all.
class CaseFilter {
 public:
  /// @throws  UsageError  if `pattern` is no regular expression (ECMAScript)
  explicit CaseFilter(const std::string& pattern, const std::string& flag = "--filter");
  [[nodiscard]] bool operator()(const std::string& name) const;

 private:
  bool passes_all_;
  std::regex pattern_;
};

}  // namespace tbench::report
