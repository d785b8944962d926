// Tests tbench profile as a user runs it, on the output of tbench nsys -o.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_tool(arguments);
}

std::string out(const std::vector<std::string>& arguments) {
  const support::ChildResult result = tbench(arguments);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

void expect_refused(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message) {
  const support::ChildResult result = tbench(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
}

class TbenchProfile : public testing::Test {
 protected:
  TbenchProfile() { profile::write_one_step(export_, profile::kNsysVersions[2]); }

  support::TemporaryFolder folder_;
  std::string export_{folder_.file("report.sqlite")};
  std::string profile_{folder_.file("profile")};
};

TEST_F(TbenchProfile, PrintsWhatNsysPrints) {
  out({"nsys", export_, "-o", profile_});
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--csv"}, {"--latex", "--top=1"}, {"--csv", "--steps=2"}, {"--csv", "--phase=attention"}}) {
    std::vector<std::string> nsys{"nsys", export_};
    std::vector<std::string> profile{"profile", profile_};
    nsys.insert(nsys.end(), options.begin(), options.end());
    profile.insert(profile.end(), options.begin(), options.end());
    EXPECT_EQ(out(profile), out(nsys)) << options.back();
  }
  EXPECT_EQ(out({"profile", profile_ + "/trace.json.gz", "--csv"}), out({"profile", profile_, "--csv"}));
  auto of_export = nlohmann::json::parse(out({"nsys", export_, "--json"}));
  auto of_profile = nlohmann::json::parse(out({"profile", profile_, "--json"}));
  for (nlohmann::json* json : {&of_export, &of_profile}) json->erase("next");  // this field names the input file
  EXPECT_EQ(of_profile, of_export);
  EXPECT_THAT(out({"profile", profile_}), AllOf(StartsWith(profile_ + "\n\nRanges: "), HasSubstr("\nLaunches, gaps")));
}

TEST_F(TbenchProfile, KnowsTheStepsThatWereTold) {
  out({"nsys", export_, "--steps=2", "-o", profile_});
  EXPECT_THAT(out({"profile", profile_}), HasSubstr("2 steps: counts and totals are per step\n"));
  EXPECT_EQ(out({"profile", profile_, "--csv", "--steps=1"}), out({"nsys", export_, "--csv"}));
}

TEST_F(TbenchProfile, ShowsSeveral) {
  out({"nsys", export_, "-o", profile_});
  const std::string one = out({"profile", profile_, "--csv", "--table=phases"});
  EXPECT_EQ(out({"profile", profile_, profile_, "--csv", "--table=phases"}), one + "\n" + one);
  const support::ChildResult refused = tbench({"profile", profile_, profile_, "--json"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("give one PATH"));
}

TEST_F(TbenchProfile, ShowsEveryProfileOfAFolder) {
  out({"nsys", export_, "-o", folder_.file("all/b")});
  out({"nsys", export_, "--steps=2", "-o", folder_.file("all/a")});
  const std::string page = out({"profile", folder_.file("all")});
  EXPECT_EQ(page, out({"profile", folder_.file("all/a"), folder_.file("all/b")}));
  EXPECT_THAT(page, HasSubstr("2 steps"));
  EXPECT_THAT(tbench({"profile", folder_.file("all"), "--json"}).err,
              HasSubstr("give one PATH, e.g. " + folder_.file("all/a")));
}

TEST_F(TbenchProfile, WrongCommandLines) {
  out({"nsys", export_, "-o", profile_});
  expect_refused({"profile"}, HasSubstr("PATH"));
  std::filesystem::create_directories(folder_.file("none/of/them"));
  expect_refused({"profile", folder_.file("none")}, HasSubstr("is a folder without trace.json.gz"));
  expect_refused({"profile", folder_.file("nowhere")}, HasSubstr("nowhere': no such file or folder"));
  expect_refused({"profile", export_}, HasSubstr("is a database; did you mean 'tbench nsys "));
  expect_refused({"profile", profile_, "--csv", "--json"}, HasSubstr("exclude each other"));
  expect_refused({"profile", profile_, "--table=phase"}, HasSubstr("did you mean 'phases'?"));
  expect_refused({"profile", profile_, "--tabel=phases"}, HasSubstr("did you mean '--table=phases'?"));
  expect_refused({"porfile", profile_}, HasSubstr("did you mean 'profile'?"));
  EXPECT_THAT(tbench({"profile", "--help"}).out, AllOf(HasSubstr("--rules"), HasSubstr("softmax_vs_matmul")));
}

TEST_F(TbenchProfile, WritesAPage) {
  out({"nsys", export_, "--steps=2", "-o", profile_});
  const std::string html = folder_.file("page.html");
  EXPECT_EQ(out({"profile", profile_, "-o", html}), "");
  std::string page = results::read_text(html);
  EXPECT_THAT(
      page, AllOf(StartsWith("<!doctype html>"), HasSubstr("<p class=\"note\">2 steps: counts and totals are per step"),
                  HasSubstr("class=\"wide flame\""), HasSubstr("<caption>Launches, gaps")));
  EXPECT_THAT(page, testing::Not(HasSubstr("Memory by range")));
  support::write_text(profile_ + "/memory.csv",
                      "event,step,phase,range,address,bytes,allocated bytes\n"
                      "1,1,forward,FORWARD/ffn,0x1,2097152,3145728\n2,1,forward,FORWARD/ffn,0x1,-2097152,1048576\n");
  out({"profile", profile_ + "/trace.json.gz", "-o", html});
  EXPECT_THAT(results::read_text(html), AllOf(HasSubstr("Memory by range over step 1: up to 3.000 MiB"),
                                              HasSubstr("FORWARD/ffn: up to 2.000 MiB")));
}

TEST_F(TbenchProfile, RefusesAPageThatItCannotMake) {
  out({"nsys", export_, "-o", profile_});
  const std::string html = folder_.file("page.html");
  expect_refused({"profile", profile_, profile_, "-o", html}, HasSubstr("-o takes one trace, and 2 are given"));
  expect_refused({"profile", profile_, "-o", html, "--csv"}, HasSubstr("leave out --table, --markdown, --csv"));
  expect_refused({"profile", profile_, "-o", html, "--table=phases"}, HasSubstr("with all tables"));
  expect_refused({"profile", profile_, "-o", profile_ + "/trace.json.gz"}, HasSubstr("is one of the inputs"));
  expect_refused({"profile", profile_, "-o", folder_.file("none/page.html")}, HasSubstr("Choose a folder that exists"));
  support::write_text(profile_ + "/memory.csv", "mine\n");
  expect_refused({"profile", profile_, "-o", html}, HasSubstr("memory.csv:1: not the header"));
  EXPECT_FALSE(std::filesystem::exists(html)) << "none of them wrote a page";
}

TEST_F(TbenchProfile, KeepsFilesOfSomebodyElse) {
  support::write_text(folder_.file("kernels.csv"), "mine");
  expect_refused({"nsys", export_, "-o", folder_.path()},
                 HasSubstr("kernels.csv' exists, and is not an earlier profile"));
  expect_refused({"nsys", export_, "-o", export_}, HasSubstr("give a folder"));
}

}  // namespace
}  // namespace tbench::tool
