// main of the test programs: exit status 1 where a test failed, 77, which ctest calls skipped, where every test was
// skipped, else 0. In CI (the environment variable CI is set) a skipped test is a failure, unless what it needs is
// something that CI need not have: TBENCH_TEST_NEEDS, which ctest sets, names it.
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
