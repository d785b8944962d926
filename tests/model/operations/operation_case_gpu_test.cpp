#include "model/operations/operation_case.hpp"

#include <c10/cuda/CUDAStream.h>

#include <stdexcept>

#include "tbench/cuda/flush_and_spin.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

Candidate spinning(const std::string& name, double seconds, int& launches) {
  return {name, [seconds, &launches] {
            ++launches;
            cuda::launch_spin(Seconds{seconds}, c10::cuda::getCurrentCUDAStream());
          }};
}

TEST_F(GpuTest, TheFastestCandidateWinsWhereverItStands) {
  for (const std::size_t place : {0U, 1U, 2U}) {
    int launches = 0;
    std::vector<Candidate> candidates{spinning("slow", 2e-3, launches), spinning("slower", 3e-3, launches)};
    candidates.insert(candidates.begin() + static_cast<std::ptrdiff_t>(place), spinning("fast", 1e-3, launches));
    EXPECT_EQ(fastest_of(candidates).name, "fast") << place;
    EXPECT_EQ(launches, 3 * 7);  // one launch before, and six timed rounds
  }
}

TEST(FastestOf, ASingleCandidateIsNotLaunchedAndNoneIsAnError) {
  int launches = 0;
  EXPECT_EQ(fastest_of({spinning("only", 1e-3, launches)}).name, "only");
  EXPECT_EQ(launches, 0);
  EXPECT_THROW(static_cast<void>(fastest_of({})), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::model
