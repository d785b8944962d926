// How the emulated kernels are tested: at odd lengths, and with every planted fault.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated/emulated_problem.hpp"
#include "support/planted_fault_rows.hpp"

namespace tbench::kernels {

constexpr std::array kLengths{Lengths{1, 1, true},
                              Lengths{2, 63, false},
                              Lengths{65, 65, true},
                              Lengths{129, 65, false},
                              Lengths{65, 300, false},
                              Lengths{200, 200, true},
                              Lengths{65, 130, false, /*vectors=*/false}};

/// @param run  of an `Attention`, its comparisons with the reference
template <class Attention, class Run>
void expect_right(const Run& run) {
  std::uint32_t seed = 1;
  for (const Lengths& lengths : kLengths) {
    SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << (lengths.causal ? ", causal" : "")
                                    << (lengths.vectors ? "" : ", unaligned"));
    Attention attention{lengths, seed++};
    for (const Comparison& comparison : run(attention)) EXPECT_EQ(comparison.failure, "");
  }
}

/// Plants a fault until the end of a scope.
class PlantedScope {
 public:
  explicit PlantedScope(PlantedFault fault) { planted_fault() = fault; }
  ~PlantedScope() { planted_fault() = PlantedFault::kNone; }
  PlantedScope(const PlantedScope&) = delete;
  PlantedScope& operator=(const PlantedScope&) = delete;
};

/// Of four tiles of queries and of keys, so that one can be skipped.
constexpr Lengths kFaultLengths{200, 200, true};
constexpr int kRaceRuns = 10;

/// The same for each of the faults; what they spoil is among `outputs`, in the order of the comparisons.
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
        // Of a race the emulator may find a barrier with too many arrivals before there are any results.
        if (row.when == When::kAlways) throw;
        return std::vector<Comparison>(outputs.size(), Comparison{.failure = error.what()});
      }
    });
  }
}

}  // namespace tbench::kernels
