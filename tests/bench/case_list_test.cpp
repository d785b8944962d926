// The names of all cases, pinned: a name is the join key of every comparison, so that a change of one must be meant.
// After a meant change: transformer_bench --benchmark_list_tests --tb_suite=S > tests/data/cases_S.txt
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "bench/families.hpp"
#include "tbench/core/case_table.hpp"

namespace tbench::bench {
namespace {

std::vector<std::string> pinned(const std::string& suite) {
  std::ifstream file{std::string{TBENCH_TEST_DATA} + "/cases_" + suite + ".txt"};
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names;
}

std::vector<std::string> names_of(Suite suite) {
  const std::vector<FamilySpec> specs = specs_of(all_families({}));
  std::vector<std::string> names;
  for (const CaseId& id : expand(specs, suite, {})) names.push_back(id.name());
  return names;
}

TEST(CaseList, IsTheOnePinned) {
  EXPECT_EQ(names_of(Suite::kSmoke), pinned("smoke"));
  EXPECT_EQ(names_of(Suite::kStandard), pinned("standard"));
  EXPECT_EQ(names_of(Suite::kFull), pinned("full"));
}

TEST(CaseList, FullHoldsTheWholeModelGrid) {
  // 5 sizes x 4 contexts x 3 passes x 2 precisions x 2 implementations, and at 512 tf32 and fp16: 5 x 3 x 2 x 2
  const std::vector<std::string> names = names_of(Suite::kFull);
  EXPECT_EQ(std::ranges::count_if(names, [](const std::string& name) { return name.starts_with("Model/"); }), 240 + 60);
}

TEST(CaseList, FullHoldsTheStandardSuite) {
  const std::vector<std::string> full = names_of(Suite::kFull);
  const std::set<std::string> known{full.begin(), full.end()};
  for (const std::string& name : names_of(Suite::kStandard)) EXPECT_TRUE(known.contains(name)) << name;
}

}  // namespace
}  // namespace tbench::bench
