// Common tests of the emulated kernels: at odd lengths, and with every injected fault.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated/emulated_problem.hpp"
#include "support/planted_fault_rows.hpp"
#include "tests/support/long_tests.hpp"

namespace tbench::kernels {

/// Lengths around the edges of tiles of 64 rows: one row, fewer rows than a tile, and one row more than one and than
/// two tiles. Other lengths have several K/V tiles or, with a mask, several Q tiles. The last one has unaligned rows.
inline std::vector<Lengths> odd_lengths() {
  const bool in_full = tbench::support::are_tests_long();
  return {{1, 1, true},
          {2, 63, false},
          {65, 65, true},
          {129, 65, false},
          {65, 300, false},
          in_full ? Lengths{200, 200, true} : Lengths{130, 130, true},
          in_full ? Lengths{65, 130, false, /*vectors=*/false} : Lengths{33, 70, false, /*vectors=*/false}};
}

/// Returns whether a test runs one combination of lengths, CTAs and so on. The full form runs all combinations. The
/// short form runs one of every `among`, which include each value.
/// @param position  the sum of the indexes of the combination's values in their lists
inline bool is_run(std::size_t position, std::size_t among) {
  return tbench::support::are_tests_long() || position % among == 0;
}

/// @param run  compares the results of an `Attention` with the reference
template <class Attention, class Run>
void expect_right(const Run& run) {
  std::uint32_t seed = 1;
  for (const Lengths& lengths : odd_lengths()) {
    SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << (lengths.causal ? ", causal" : "")
                                    << (lengths.vectors ? "" : ", unaligned"));
    Attention attention{lengths, seed++};
    for (const Comparison& comparison : run(attention)) EXPECT_EQ(comparison.failure, "");
  }
}

/// Injects a fault until the end of a scope.
class PlantedScope {
 public:
  explicit PlantedScope(InjectedFault fault) { planted_fault() = fault; }
  ~PlantedScope() { planted_fault() = InjectedFault::kNone; }
  PlantedScope(const PlantedScope&) = delete;
  PlantedScope& operator=(const PlantedScope&) = delete;
};

/// Several Q tiles and several K/V tiles for every kernel tested (four of each if tiles have 64 rows), so that a fault
/// can skip one.
constexpr Lengths kFaultLengths{200, 200, true};
constexpr int kRaceRuns = 40;  // maximum number of runs; they stop when the fault is found

/// Expects each fault to be found. The outputs that it spoils are among `outputs`, in the order of the comparisons.
template <class Attention, class Rows, class Run>
void expect_all_found(const Rows& rows, const std::vector<std::string>& outputs, const Run& run,
                      const Lengths& lengths = kFaultLengths) {
  Attention attention{lengths, 1};
  for (const FaultRow& row : rows) {
    SCOPED_TRACE(row.name);
    const PlantedScope planted{row.fault};
    expect_found(row, outputs, kRaceRuns, [&] {
      attention.next_order();
      try {
        return run(attention);
      } catch (const std::logic_error& error) {
        // In a race, the emulator may find a barrier with too many arrivals before there are any results.
        if (row.when == When::kAlways) throw;
        return std::vector<Comparison>(outputs.size(), Comparison{.failure = error.what()});
      }
    });
  }
}

/// Expects the results of float64 arithmetic. Where these are not finite, the actual ones must not be finite either.
/// @return  number of finite elements
inline int expect_as_exact(const char* name, const std::vector<double>& actual, const std::vector<double>& exact) {
  constexpr double kTolerance = 2e-2;
  int finite = 0, wrong = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(exact[i])) continue;
    ++finite;
    const bool is_right = std::abs(actual[i] - exact[i]) <= kTolerance;
    EXPECT_TRUE(is_right || ++wrong > 1) << name << ", the first wrong element: " << i << ", " << actual[i] << ", not "
                                         << exact[i];
  }
  EXPECT_EQ(wrong, 0) << name << ", of " << finite;
  return finite;
}

/// Numbers of finite elements in the gradients of the first head.
struct Finite {
  int dq{}, dk{}, dv{};
};

/// @param run  runs a backward pass of an `Attention`
template <class Attention, class Run>
void expect_as_exact(Attention& attention, const Finite& expected, const Run& run) {
  const ExactHead& exact = attention.use_exact_head();
  run(attention);
  const ExactHead actual = attention.gradients_of_first_head();
  EXPECT_EQ(expect_as_exact("dq", actual.dq, exact.dq), expected.dq);
  EXPECT_EQ(expect_as_exact("dk", actual.dk, exact.dk), expected.dk);
  EXPECT_EQ(expect_as_exact("dv", actual.dv, exact.dv), expected.dv);
}

/// Expects a key whose scores are all -Inf to have P and dS of 0, and therefore dK and dV of 0. In dQ, its Inf is
/// multiplied by 0.
/// @param run  runs a backward pass of an `Attention`
template <class Attention, class Run>
void expect_key_of_no_weight(const Run& run) {
  constexpr int kQueries = 33, kKeys = 130, kColumns = Attention::kHeadDim;
  Attention attention{Lengths{kQueries, kKeys, false}, 1};
  attention.set_key(70, std::numeric_limits<float>::infinity());
  for (int row = 0; row < kQueries; ++row) attention.set_query(row, -1.0f);
  expect_as_exact(attention, {.dq = kQueries * (kColumns - 1), .dk = kKeys * kColumns, .dv = kKeys * kColumns}, run);
}

}  // namespace tbench::kernels
