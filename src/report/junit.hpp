// JUnit's XML, from whatever has test cases. Private to the report layer.
#pragma once

#include <span>
#include <string>

namespace tbench::report {

struct JunitCase {
  enum class Result { kPassed, kFailed, kSkipped };
  std::string family;
  std::string name;
  Result result{Result::kPassed};
  std::string message;  // of one that did not pass
};

/// Texts may hold anything: markup is escaped, what XML 1.0 cannot hold is replaced.
[[nodiscard]] std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases);

}  // namespace tbench::report
