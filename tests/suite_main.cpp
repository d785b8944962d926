// main of the test programs whose suites are one ctest test each: exit status 77, which ctest calls skipped, where
// every test was skipped, 1 where one failed, else 0.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool all_skipped = tests.skipped_test_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  constexpr int kSkipped = 77;
  return failed == 0 && all_skipped ? kSkipped : failed;
}
