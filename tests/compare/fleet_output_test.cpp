#include "tbench/compare/fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/fleet_samples.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Fleet with_a_slow_one() {
  std::vector<results::NamedResults> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(support::gpu_file(i, [i](const CaseId&) { return i % 2 == 0 ? 0.0005 : -0.0005; }));
  }
  support::slow_down(files[2], Resource::kMemory, 0.05);
  return compare_fleet(files, {});
}

TEST(FleetOutput, SaysWhoIsSlowWhereAndWhatCanBeFound) {
  const Fleet fleet = with_a_slow_one();
  EXPECT_EQ(fleet_summary(fleet), "6 machines: GPU-10000002 slow in memory");
  const std::string page = fleet_page(fleet, {});
  EXPECT_THAT(page, AllOf(HasSubstr("SLOW in at most 1 % of fleets"), HasSubstr("SLOW -5.06 ("),
                          HasSubstr("what:copy/regime:burst what:read/regime:burst"), HasSubstr("finds %")));
  const std::string markdown = fleet_page(fleet, {.markdown = true});
  EXPECT_THAT(markdown,
              AllOf(StartsWith("**6 machines: GPU-10000002 slow in memory**"), HasSubstr("| GPU-10000000 |")));
}

TEST(FleetOutput, LinesOfSlowGpusAreRed) {
  EXPECT_THAT(fleet_page(with_a_slow_one(), {.colour = true}), HasSubstr("\033[31mGPU-10000002"));
}

TEST(FleetOutput, ALaterFleetKnowsWhatThisOneFound) {
  const support::TemporaryFolder folder;
  const Fleet fleet = with_a_slow_one();
  const std::string path = folder.file("fleet.json");
  support::write_text(path, results::pretty(fleet_to_json(fleet)));
  const std::vector<ResourceDispersion> known = read_known_spreads(path);
  ASSERT_EQ(known.size(), fleet.resources.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(known[i].gpu, "NVIDIA H200");
    EXPECT_EQ(known[i].resource, fleet.resources[i].resource);
    EXPECT_DOUBLE_EQ(known[i].spread.standard_deviation, fleet.resources[i].spread);
    EXPECT_DOUBLE_EQ(known[i].spread.degrees_of_freedom, fleet.resources[i].degrees_of_freedom);
  }
  // The slow GPU is left out of the spread: five GPUs give four degrees of freedom.
  EXPECT_DOUBLE_EQ(known[2].spread.degrees_of_freedom, 4);
}

TEST(FleetOutput, OtherFilesAreNotKnowledge) {
  const support::TemporaryFolder folder;
  for (const char* text :
       {"", "{}", "[]", R"({"gpu": "A", "resources": [{"resource": "memory"}]})",
        R"({"gpu": "A", "resources": [{"resource": "disk", "spread": 1, "degrees_of_freedom": 1}]})",
        R"({"gpu": "A", "resources": [{"resource": "l2", "spread": -1, "degrees_of_freedom": 1}]})"}) {
    const std::string path = folder.file("known.json");
    support::write_text(path, text);
    EXPECT_THROW(static_cast<void>(read_known_spreads(path)), UsageError) << text;
  }
}

}  // namespace
}  // namespace tbench::compare
