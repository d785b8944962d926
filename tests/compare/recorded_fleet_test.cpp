// Compares the spreads between GPUs that `tbench fleet` knows with the committed results that they come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tbench/compare/fleet.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;

const FleetResource& resource(const Fleet& fleet, Resource which) {
  return *std::ranges::find(fleet.resources, which, &FleetResource::resource);
}

/// The recorded spreads come from these files. After measuring the files again, run `tbench fleet --alone --json` on
/// them and copy the printed spreads into recorded_spreads() and this list.
TEST(RecordedFleet, SpreadsAreThoseOfTheResultsOfRecord) {
  std::vector<NamedResults> files;
  for (const char* name : {"attention/full_1",
                           "attention/full_2",
                           "attention/full_3",
                           "attention/full_4",
                           "attention/full_5",
                           "attention/full_6",
                           "attention/full_7",
                           "attention/full_8",
                           "attention/full_9",
                           "attention/full_10",
                           "attention/full_11",
                           "attention/full_12",
                           "attention/full_13",
                           "ceilings/ceilings",
                           "model/flash",
                           "model/flash_2",
                           "model/flash_3",
                           "model/flash_4",
                           "operations/kernel_softmax",
                           "operations/operations",
                           "precision/attention_tf32"}) {
    const std::string path = std::string{TBENCH_TEST_DATA "/../../bench/results/nvidia_h200/"} + name + ".json.gz";
    files.push_back({name, results::read_result_file(path)});
  }
  const Fleet fleet = compare_fleet(files, {});
  EXPECT_FALSE(has_slow(fleet));
  EXPECT_EQ(fleet.machines.size(), 10U);
  ASSERT_EQ(fleet.resources.size(), recorded_spreads().size());
  for (const ResourceDispersion& known : recorded_spreads()) {
    EXPECT_EQ(known.gpu, fleet.gpu);
    const FleetResource& measured = resource(fleet, known.resource);
    EXPECT_NEAR(measured.spread, known.spread.standard_deviation, 0.5e-5) << to_string(known.resource);
    EXPECT_EQ(measured.degrees_of_freedom, known.spread.degrees_of_freedom) << to_string(known.resource);
  }
}

}  // namespace
}  // namespace tbench::compare
