// The faults that tests can inject, the outputs in which each must be found, and the check that each is found.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "kernels/attention/common/injected_fault.hpp"
#include "support/compare_outputs.hpp"

namespace tbench::kernels {

using Names = std::set<std::string>;

enum class When { kAlways, kSometimes };  // a race need not have an effect in every run or every output

struct FaultRow {
  const char* name;
  InjectedFault fault;
  Names spoiled;
  When when{When::kAlways};
};

inline const std::array kForwardFaults{
    FaultRow{"none", InjectedFault::kNone, {}},
    FaultRow{"scale", InjectedFault::kForwardScale, {"o", "lse"}},
    FaultRow{"mask", InjectedFault::kForwardMask, {"o", "lse"}},
    FaultRow{"skip_tile", InjectedFault::kForwardSkipTile, {"o", "lse"}},
    FaultRow{"lse_base", InjectedFault::kLseBase, {"lse"}},
    FaultRow{"barrier", InjectedFault::kForwardBarrier, {"o", "lse"}, When::kSometimes},
};
inline const std::array kBackwardFaults{
    FaultRow{"none", InjectedFault::kNone, {}},
    FaultRow{"scale", InjectedFault::kBackwardScale, {"dq", "dk", "dv"}},
    FaultRow{"mask", InjectedFault::kBackwardMask, {"dq", "dk", "dv"}},
    FaultRow{"dq_skip_tile", InjectedFault::kDqSkipTile, {"dq"}},
    FaultRow{"dk_scale", InjectedFault::kDkScale, {"dk"}},
    FaultRow{"dv_skip_tile", InjectedFault::kDvSkipTile, {"dv"}},
    FaultRow{"barrier", InjectedFault::kBackwardBarrier, {"dq", "dk", "dv"}, When::kSometimes},
};

/// Runs the kernels with the injected fault until it is found; a race is tried at most `runs` times.
/// @param outputs        names of the outputs that run_and_check() compares, in its order
/// @param run_and_check  one run's comparisons with the reference
template <class Check>
void expect_found(const FaultRow& row, const std::vector<std::string>& outputs, int runs, const Check& run_and_check) {
  Names found;
  for (int i = 0; i < (row.when == When::kSometimes ? runs : 1) && found.empty(); ++i) {
    const std::vector<Comparison> comparisons = run_and_check();
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      if (!comparisons.at(output).failure.empty()) found.insert(outputs[output]);
    }
  }
  if (row.when == When::kSometimes) {
    EXPECT_THAT(found, testing::Not(testing::IsEmpty()));
  } else {
    EXPECT_EQ(found, row.spoiled);
  }
}

}  // namespace tbench::kernels
