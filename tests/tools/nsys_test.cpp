// Tests tbench nsys as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class TbenchNsys : public testing::Test {
 protected:
  TbenchNsys() { profile::write_one_step(path_, profile::kNsysVersions[2]); }

  support::ChildResult run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{TBENCH_TOOL, "nsys", path_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return support::run_tool(command);
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

TEST_F(TbenchNsys, ShowsSeveralExports) {
  const std::string other = folder_.file("other.sqlite");
  profile::write_one_step(other, profile::kNsysVersions[3]);
  EXPECT_THAT(out({other, "--table=phases"}), AllOf(StartsWith(path_ + ", nsys schema 3.11.3\n"),
                                                    HasSubstr("\n\n" + other + ", nsys schema 3.25.0\n")));
  EXPECT_THAT(run({other, "--json"}).err, HasSubstr("--json takes one export, and 2 are given; give one FILE"));
}

TEST_F(TbenchNsys, PassesOverAnExportThatCannotBeRead) {
  const std::string empty = folder_.file("empty.sqlite");
  support::write_text(empty, "");
  const support::ChildResult some = run({empty, "--table=phases"});
  EXPECT_EQ(some.exit_status, 1);
  EXPECT_THAT(some.out, HasSubstr("OPTIMIZER"));
  EXPECT_THAT(some.err, AllOf(StartsWith("tbench: '" + empty + "' is empty. Run 'nsys export "), EndsWith("'.\n")));
  support::write_text(path_, "");
  EXPECT_EQ(run({empty}).exit_status, 2);
}

TEST_F(TbenchNsys, WritesAFolderForEachOfSeveralExports) {
  const std::string other = folder_.file("other.sqlite");
  profile::write_one_step(other, profile::kNsysVersions[3]);
  static_cast<void>(out({other, "-o", folder_.file("profile")}));
  for (const char* name : {"report", "other"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.file("profile") + "/" + name + "/trace.json.gz")) << name;
  }
  expect_refused({path_, "-o", folder_.file("again")}, HasSubstr("two exports would go to '" + folder_.file("again")));
}

TEST_F(TbenchNsys, TakesNamesOfRanges) {
  EXPECT_THAT(out({"--csv", "--table=phases", "--map=FORWARD=step", "--map", "layer.*=FORWARD"}),
              HasSubstr("\nFORWARD,4,4,0.1000,"));
  expect_refused({"--map=FORWARD"}, HasSubstr("--map 'FORWARD': it has no '='. Give 'THEIRS=OURS'"));
  expect_refused({"--map=forwart=FORWARD"}, HasSubstr("--map: no range is named 'forwart'"));
}

/// Files may come from a checkout, an archive or a copy, so their times may not tell which is older.
TEST_F(TbenchNsys, AnExportOlderThanItsReportIsShownWithANote) {
  support::write_text(folder_.file("report.nsys-rep"), "NVTS");
  const auto now = std::filesystem::last_write_time(path_);
  std::filesystem::last_write_time(folder_.file("report.nsys-rep"), now + std::chrono::milliseconds{100});
  const support::ChildResult result = run({"--table=phases"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.out, HasSubstr("OPTIMIZER"));
  EXPECT_EQ(result.err, "note: '" + path_ +
                            "' is older than 'report.nsys-rep' beside it, by 0.1 s: if that is of another run, export "
                            "it again\n");
}

/// A program that records with PyTorch has such ranges: `backward` is open on the thread that waits for it.
TEST_F(TbenchNsys, BackwardOfAutogradsThreadIsOfItsPhase) {
  const std::string path = folder_.file("autograd.sqlite");
  {
    profile::NsysWriter writer{path, profile::kNsysVersions[3]};
    writer.make_tables();
    for (const char* phase : {"forward", "backward"}) {
      const bool is_forward = std::string{phase} == "forward";
      const std::int64_t at = is_forward ? 0 : 1000;
      writer.range(at, at + 1000, phase);
      for (std::int64_t i = 1; i < 4; ++i) {
        writer.call(at + 100 * i, at + 100 * i + 10, at + i, "cudaLaunchKernel", profile::kTid + (is_forward ? 0 : 1));
        writer.kernel(at + 100 * i + 20, at + 100 * i + 90, at + i, "nvjet_a");
      }
    }
  }
  const support::ChildResult result = support::run_tool({TBENCH_TOOL, "nsys", path, "--table=phases"});
  EXPECT_THAT(result.out,
              AllOf(testing::ContainsRegex("backward +3 +3 [^\n]* 3\n"),
                    HasSubstr("3 of 6 operations (50.0 % of the time) are attributed by time: to the range that"),
                    HasSubstr("(backward: 3)")));
  const support::ChildResult json = support::run_tool({TBENCH_TOOL, "nsys", path, "--json", "--map=backward=BACKWARD"});
  EXPECT_THAT(json.out, HasSubstr("autograd.sqlite --map=backward=BACKWARD --table=")) << "the command that follows";
}

TEST_F(TbenchNsys, AGraphHasItsName) {
  const std::string path = folder_.file("graph.sqlite");
  {
    profile::NsysWriter writer{path, profile::kNsysVersions[3]};
    writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, graphId INT)");
    writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (20, 400, 5)");
  }
  const support::ChildResult result = support::run_tool({TBENCH_TOOL, "nsys", path, "--json"});
  EXPECT_THAT(result.out, HasSubstr("CUDA graph 5 takes 100.0 % of the time"));
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
