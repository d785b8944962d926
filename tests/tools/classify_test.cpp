// Tests tbench classify as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;

/// Runs classify with these names, one per line, on standard input.
support::ChildResult classify(const std::string& names, const std::string& arguments = "") {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("names.txt"), names);
  return support::run_tool({"sh", "-c", TBENCH_TOOL " classify " + arguments + " < " + folder.file("names.txt")});
}

TEST(TbenchClassify, PrintsTheClassOfEachName) {
  const support::ChildResult result =
      classify("ampere_sgemm_128x64_tn\r\n\nmine\nvoid flash_fwd_kernel<(int)64>(Params)");
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out,
            "gemm\tampere_sgemm_128x64_tn\nother\tmine\nattention_fused\tvoid flash_fwd_kernel<(int)64>(Params)\n");
}

TEST(TbenchClassify, ALineIsBounded) {
  const std::string longest(65'535, 'x');
  EXPECT_EQ(classify(longest + "\n" + longest).out, "other\t" + longest + "\nother\t" + longest + "\n");
  const support::ChildResult result = support::run_tool({"sh", "-c", TBENCH_TOOL " classify < /dev/zero"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input: a line of more than 65536 bytes"));
}

TEST(TbenchClassify, TakesRules) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("rules.txt");
  support::write_text(path, "optimizer ^mine$\n");
  EXPECT_EQ(classify("mine\nampere_sgemm\n", "--rules " + path).out, "optimizer\tmine\nother\tampere_sgemm\n");
  support::write_text(path, "optimizer ^mine$\nnorm (a\n");
  const support::ChildResult result = classify("mine\n", "--rules " + path);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("rules.txt', line 2, column 6: '(a' is not a rule"));
}

}  // namespace
}  // namespace tbench::tool
