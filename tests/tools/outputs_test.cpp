// Tests that no command of tbench overwrites input files, and which messages appear if a command cannot write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Outputs : public testing::Test {
 protected:
  Outputs() {
    results::ResultFile other = support::golden_file();
    other.interrupted = false;
    results::write_result_file(a_, other);
    other.records.assign(1, support::timed_record(support::model_id("forward", "flash"), Seconds{0.1}));
    results::write_result_file(b_, other);
    results::write_result_file(folder_.file("packed.json.gz"), other);
    support::write_text(folder_.file("c.json.journal"), "{");
    EXPECT_EQ(tbench({"history", "--db=" + db_, "--import=" + imported()}).exit_status, 0);
  }

  static support::ChildResult tbench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TBENCH_TOOL);
    return support::run_tool(arguments);
  }
  /// Expects exit status 2, a message of one line, and no changed file.
  void expect_refused(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message) {
    const std::map<std::string, std::string> before = contents();
    const support::ChildResult result = tbench(arguments);
    EXPECT_EQ(result.exit_status, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message)) << testing::PrintToString(arguments);
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_EQ(contents(), before) << testing::PrintToString(arguments);
  }

  support::TemporaryFolder folder_;
  std::string a_ = folder_.file("a.json");
  std::string b_ = folder_.file("b.json");
  std::string db_ = folder_.file("history.db");

 private:
  /// Makes a folder with the results and returns its path.
  std::string imported() {
    fs::create_directories(folder_.file("nights"));
    fs::copy_file(a_, folder_.file("nights/a.json"));
    return folder_.file("nights");
  }
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator{folder_.path()}) {
      if (entry.is_regular_file()) files[entry.path()] = results::read_whole_file(entry.path());
    }
    return files;
  }
};

TEST_F(Outputs, AreNeverAnInput) {
  fs::create_hard_link(a_, folder_.file("hard.json"));
  fs::create_symlink("a.json", folder_.file("soft.json"));
  for (const char* name : {"a.json", "hard.json", "soft.json"}) {
    const std::string out = folder_.file(name);
    const auto message = HasSubstr("'" + out + "' is one of the inputs. Give another name.");
    expect_refused({"report", a_, "-o", out}, message);
    expect_refused({"merge", a_, b_, "-o", out}, message);
    expect_refused({"diff", b_, a_, "--junit=" + out}, message);
    expect_refused({"gate", a_, "--db=" + db_, "--junit=" + out}, message);
    expect_refused({"durations", a_, "-o", out}, message);
    expect_refused({"spreads", a_, "-o", out}, message);
  }
  expect_refused({"gate", a_, "--db=" + db_, "--junit=" + db_}, HasSubstr("is one of the inputs"));
  expect_refused({"history", "--db=" + db_, "-o", db_}, HasSubstr("is one of the inputs"));
  expect_refused({"gate", b_, "--db=" + db_, "--null-a=" + a_, "--null-b=" + a_, "--confirm-dir=" + folder_.path()},
                 AllOf(HasSubstr("--confirm-dir: '"), HasSubstr("an input, is in '")));
}

TEST_F(Outputs, ReplaceNoOtherMeasurements) {
  const std::string packed = folder_.file("packed.json.gz");
  expect_refused({"report", a_, "-o", b_}, HasSubstr("-o: '" + b_ + "' holds results, which would be lost"));
  expect_refused({"report", a_, "--study=precision", "-o", b_}, HasSubstr("holds results"));
  expect_refused({"report", a_, "-o", packed}, HasSubstr("'" + packed + "' holds results"));
  expect_refused({"report", a_, "-o", db_}, HasSubstr("holds a database"));
  expect_refused({"report", a_, "-o", folder_.file("c.json.journal")}, HasSubstr("holds the journal of a run"));
  expect_refused({"diff", a_, a_, "--junit=" + b_}, HasSubstr("--junit: '" + b_ + "' holds results"));
  expect_refused({"durations", a_, "-o", b_}, HasSubstr("holds results"));
  expect_refused({"history", "--db=" + db_, "-o", b_}, HasSubstr("holds results"));
}

TEST_F(Outputs, OfMergeReplaceOnlyWhatIsMergedAgain) {
  const std::string out = folder_.file("all.json");
  expect_refused({"merge", "-o", a_, b_}, HasSubstr("'" + a_ + "' exists already and is not among the files"));
  support::write_text(out, "notes");
  expect_refused({"merge", a_, b_, "-o", out}, HasSubstr("holds something else than results"));
  fs::remove(out);
  ASSERT_EQ(tbench({"merge", a_, b_, "-o", out}).exit_status, 0);
  EXPECT_EQ(tbench({"merge", a_, b_, "-o", out}).exit_status, 0) << "the same again";
  results::ResultFile newer = results::read_result_file(b_);
  support::scale_samples(*newer.records.front().timing, 2);
  results::write_result_file(b_, newer);
  EXPECT_EQ(tbench({"merge", a_, b_, "-o", out}).exit_status, 0) << "newer results of the same cases";
  results::ResultFile lost = results::read_result_file(out);
  lost.records.push_back(support::timed_record(support::model_id("train_step", "flash"), Seconds{0.2}));
  results::write_result_file(out, lost);
  expect_refused({"merge", a_, b_, "-o", out}, AllOf(HasSubstr("has a run of Model/"), HasSubstr("impl:flash")));
}

TEST_F(Outputs, WaitForTheRunThatWritesThem) {
  const results::OutputLock lock{folder_.file("running.json")};
  const auto message =
      HasSubstr("process " + std::to_string(::getpid()) + " is writing it. Wait for it, or name another ");
  const std::string out = folder_.file("running.json");
  expect_refused({"merge", a_, b_, "-o", out}, message);
  expect_refused({"report", a_, "-o", out}, message);
  expect_refused({"diff", a_, b_, "--junit=" + out}, message);
  expect_refused({"gate", a_, "--db=" + db_, "--junit=" + out}, message);
}

TEST_F(Outputs, ThatCannotBeWrittenNameTheCause) {
  const std::string page = folder_.file("page.html");
  const std::string limited = "ulimit -f 1; exec \"$0\" \"$@\"";
  const support::ChildResult result =
      support::run_tool({"/bin/sh", "-c", limited, TBENCH_TOOL, "report", a_, "-o", page});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, "tbench: -o: cannot write '" + page +
                            "': File too large. Raise the limit of a file's size (ulimit -f), or choose another "
                            "folder.\n");
  expect_refused({"report", a_, "-o", "/dev/full"}, HasSubstr("No space left on device. Free some space there"));
  expect_refused({"report", a_, "-o", folder_.file("none/page.html")}, HasSubstr("No such file or directory. Choose"));
  expect_refused({"report", a_, "-o", folder_.path()}, HasSubstr("Is a directory. Choose the name of a file in it."));
  expect_refused({"report", a_, "-o", folder_.file(std::string(300, 'n'))}, HasSubstr("File name too long. Choose a"));
  EXPECT_FALSE(fs::exists(page));
}

TEST_F(Outputs, OfAProcessWithoutStandardStreams) {
  const std::string page = folder_.file("page.html");
  const auto with = [&](const std::string& streams, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"/bin/sh", "-c", "exec \"$0\" \"$@\" " + streams, TBENCH_TOOL};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return support::run_tool(words);
  };
  EXPECT_EQ(with("<&- >&- 2>&-", {"report", a_, "-o", page}).exit_status, 0);
  EXPECT_THAT(results::read_whole_file(page), AllOf(StartsWith("<!doctype html>"), testing::EndsWith("</html>\n")));
  EXPECT_EQ(with(">&-", {"report", a_}).exit_status, 2);
  EXPECT_THAT(with(">&-", {"report", a_}).err, HasSubstr("Start the program with its standard output open."));
  for (const char* streams : {"2>&-", "2>/dev/full"}) {
    EXPECT_EQ(with(streams, {"report", folder_.file("none.json")}).exit_status, 2) << streams;
    EXPECT_EQ(with(streams, {"repotr"}).exit_status, 2) << streams;
  }
}

}  // namespace
}  // namespace tbench::tool
