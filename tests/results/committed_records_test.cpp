// Tests that every committed results file, of all schema versions, follows the rules of record_rules.hpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

namespace fs = std::filesystem;

/// Files next to results that are not results.
const std::set<std::string> kOthers{"ncu.json.gz", "pytorch.json.gz", "pytorch_eager.json.gz", "aa_verdict.json.gz"};

TEST(CommittedRecords, BreakNoRule) {
  std::size_t files = 0;
  std::size_t records = 0;
  for (const auto& entry : fs::recursive_directory_iterator{TBENCH_SOURCE_DIR "/bench/results"}) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json.gz") || kOthers.contains(entry.path().filename().string())) continue;
    SCOPED_TRACE(path);
    ASSERT_NO_THROW(records += read_result_file(path).records.size());
    ++files;
  }
  RecordProperty("files", std::to_string(files));
  RecordProperty("records", std::to_string(records));
  EXPECT_GE(files, 140U);
  EXPECT_GE(records, 15'030U);
}

}  // namespace
}  // namespace tbench::results
