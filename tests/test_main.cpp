// Runs a test program. The exit status is 1 if a test failed, 77 (which ctest calls skipped) if every test was skipped,
// and 0 otherwise. In CI (the environment variable CI is set), a skipped test is a failure. The exception is a test
// that needs something that CI may lack: ctest names it in TBENCH_TEST_NEEDS.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const int skipped = tests.skipped_test_count();
  if (failed != 0 || skipped == 0) return failed;
  if (is_set("CI") && !is_set("TBENCH_TEST_NEEDS")) {
    std::fprintf(stderr, "%d tests were skipped, which is a failure in CI (the variable CI is set)\n", skipped);
    return 1;
  }
  constexpr int kSkipped = 77;
  return skipped == tests.test_to_run_count() ? kSkipped : 0;
}
