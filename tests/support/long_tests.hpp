// Whether tests that have a short form run in full: with TBENCH_LONG_TESTS=1 in the environment. The short form has
// every class of what a test looks at, fewer instances of it.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tbench::support {

inline bool are_tests_long() {
  const char* const value = std::getenv("TBENCH_LONG_TESTS");
  return value != nullptr && std::string_view{value} == "1";
}

}  // namespace tbench::support
