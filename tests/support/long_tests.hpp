// Tells whether tests that have a short form run in full: with TBENCH_LONG_TESTS=1 in the environment. The short form
// covers every kind of input of the test, but fewer inputs of each kind.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tbench::support {

inline bool are_tests_long() {
  const char* const value = std::getenv("TBENCH_LONG_TESTS");
  return value != nullptr && std::string_view{value} == "1";
}

}  // namespace tbench::support
