// tbench nsys as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TbenchNsys : public testing::Test {
 protected:
  TbenchNsys() { profile::write_one_step(path_, profile::kNsysVersions[2]); }

  support::ChildResult run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{TBENCH_TOOL, "nsys", path_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return support::run_child(command);
  }
  std::string out(const std::vector<std::string>& arguments) const {
    const support::ChildResult result = run(arguments);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  void expect_refused(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message) const {
    const support::ChildResult result = run(arguments);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }

  support::TemporaryFolder folder_;
  std::string path_{folder_.file("report.sqlite")};
};

TEST_F(TbenchNsys, PrintsEveryTable) {
  EXPECT_THAT(out({}), AllOf(HasSubstr("report.sqlite, nsys schema 3.11.3\n\nRanges: "), HasSubstr("\nPhases\n"),
                             HasSubstr("\nTop kernels"), HasSubstr("\nKernels"), HasSubstr("\nClasses"),
                             HasSubstr("\nDevices"), HasSubstr("\nCUDA API\n"), HasSubstr("\nCopies and fills\n"),
                             HasSubstr("\n1 of 8 operations have no call")));
}

TEST_F(TbenchNsys, PrintsInEveryFormat) {
  EXPECT_THAT(out({"--markdown", "--table=phases"}), HasSubstr("**Phases**\n\n| phase | launches |"));
  EXPECT_THAT(out({"--csv", "--table=phases"}), StartsWith("phase,launches,kernels,kernels ms,"));
  EXPECT_THAT(out({"--latex", "--table=phases"}), StartsWith("\\begin{longtable}{lrrrrrr}"));
  EXPECT_THAT(out({"--json"}), AllOf(StartsWith("{"), HasSubstr("\"host_bound\": false")));
  EXPECT_THAT(out({"--csv", "--table=kernels", "--full-names", "--top=1"}),
              testing::Not(HasSubstr("softmax_warp_forward")));
  EXPECT_THAT(out({"--steps=2"}), HasSubstr("2 steps: counts and totals are per step\n"));
  EXPECT_THAT(out({"--csv", "--table=phases", "--phase=attention"}), HasSubstr("\nattention,2,2,0.04000,"));
}

TEST_F(TbenchNsys, TakesRules) {
  support::write_text(folder_.file("rules.txt"), "norm mystery\n");
  EXPECT_THAT(out({"--csv", "--table=classes", "--rules=" + folder_.file("rules.txt")}),
              HasSubstr("\n(no phase),norm,2,"));
}

TEST_F(TbenchNsys, WrongCommandLines) {
  expect_refused({"--csv", "--json"}, HasSubstr("exclude each other"));
  EXPECT_THAT(run({"--json", "--table=phases"}).err, HasSubstr("leave out --table"));
  expect_refused({"--table=phase"}, HasSubstr("did you mean 'phases'?"));
  expect_refused({"--phase=atention"}, HasSubstr("did you mean 'attention'?"));
  expect_refused({"--steps=0"}, HasSubstr("--steps"));
  support::write_text(path_, "");
  expect_refused({}, HasSubstr("is empty"));
}

}  // namespace
}  // namespace tbench::tool
