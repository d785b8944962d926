// A study is two commands: `transformer_bench --tb_study` and `tbench report --study`, on the CPU at a size that it can
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// A time in a study's CSV. A busy machine's times carry the marks of their cells (`~`: not steady).
const std::string kTime = "[0-9.]+[~h]*";

class StudyProgram : public InFolder {
 protected:
  CommandResult measure(const std::string& study, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {TBENCH_PROGRAM, "--tb_device=cpu", "--tb_study=" + study, "--benchmark_out=" + out_,
                                 "--benchmark_min_warmup_time=0.05", "--benchmark_min_time=0.05"});
    return run_command(flags);
  }
  [[nodiscard]] CommandResult report(const std::string& study) const {
    return run_command({TBENCH_TOOL, "report", "--study", study, "--csv", out_});
  }
};

TEST_F(StudyProgram, PrecisionTakesTheUsersAxesIntoTheTable) {
  const CommandResult run =
      measure("precision", {"--tb_axis=Model.size=tiny", "--tb_axis=Model.ctx=16", "--benchmark_filter=pass:forward/"});
  ASSERT_EQ(run.status, 0) << run.err;
  const CommandResult table = report("precision");
  ASSERT_EQ(table.status, 0) << table.err;
  // fp32 and bf16 have a time, a CPU has no tf32 and fp16; forward_backward was filtered out.
  EXPECT_THAT(table.out, HasSubstr("pass,precision:fp32,precision:tf32,precision:bf16,precision:fp16,"));
  EXPECT_THAT(table.out, HasSubstr(",unsupported,"));
  EXPECT_THAT(table.out, ContainsRegex("forward_backward,,,,,,,,,?transformer_bench --tb_study=precision "
                                       "--tb_axis=Model.ctx=16 --tb_axis=Model.size=tiny "
                                       "--benchmark_filter='/pass:forward_backward/' "
                                       "--benchmark_out=precision_1.json"));  // a column more where times have marks
}

TEST_F(StudyProgram, WarmupCountsItsStepsInProcessesOfTheirOwn) {
  const CommandResult run =
      measure("warmup", {"--tb_axis=Warmup.size=tiny", "--tb_axis=Warmup.ctx=16", "--tb_axis=Warmup.warmup=0,2",
                         "--tb_axis=Warmup.steps=10", "--benchmark_filter=pass:(forward|train_step)/"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("4 cases: 4 ok"));
  const CommandResult table = report("warmup");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("pass,warmup,mean ms,std ms,tokens/s,median ms,peak MiB,first step ms,"));
  for (const char* row : {"forward,0,", "forward,2,", "train_step,0,", "train_step,2,"}) {
    const std::size_t begin = table.out.find(std::string{"\n"} + row);
    ASSERT_NE(begin, std::string::npos) << row;
    const std::string line = table.out.substr(begin + 1, table.out.find('\n', begin + 1) - begin - 1);
    EXPECT_THAT(line,
                MatchesRegex("[a-z_]+,[02](," + kTime + "){2},\"?[0-9,]+\"?," + kTime + ",," + kTime + ",[0-9.,~h]*"))
        << row;
  }
}

TEST_F(StudyProgram, AccumulationShowsTheCoursesSumsToTheLastDigit) {
  const CommandResult run = measure("accumulation", {"--benchmark_filter=op:sum/n:1000/"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, ContainsRegex("7 cases: (7 ok|[1-6] ok, [1-6] unstable)"));  // of a busy machine
  const CommandResult table = report("accumulation");
  ASSERT_EQ(table.status, 0) << table.err;
  for (const std::string row : {"1000,fp32,fp32,sequential,10.000133514404297", "1000,fp16,fp16,sequential,9.953125",
                                "1000,fp16,fp32,sequential,10.00213623046875",
                                "1000,fp16,fp32,cast_up,10.00213623046875", "1000,bf16,bf16,sequential,4"}) {
    EXPECT_THAT(table.out, ContainsRegex(row + "[*~]*,"));  // the marks of its time
  }
}

TEST_F(StudyProgram, AutocastHasADtypeInEveryCell) {
  const CommandResult run = measure("autocast", {"--tb_warmup=1", "--tb_samples=2"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("4 cases: 4 ok"));
  const CommandResult table = report("autocast");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("quantity,precision:fp16,precision:bf16,"));
  EXPECT_THAT(table.out, HasSubstr("\nfc1,fp16,bf16,"));
  EXPECT_THAT(table.out, HasSubstr("\nq projection,fp16,bf16,"));
  EXPECT_THAT(table.out, HasSubstr("\ngradients,fp32,fp32,"));
  EXPECT_THAT(table.out, Not(HasSubstr(",,")));  // every quantity of the study is one that the family found
}

TEST_F(StudyProgram, AttentionGridShowsForwardAndBackwardOfEachImplementation) {
  const CommandResult run = measure("attention_grid", {"--tb_axis=Attention.batch=2", "--tb_axis=Attention.d_model=16",
                                                       "--tb_axis=Attention.seq_len=32,64"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  const CommandResult table = report("attention_grid");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("seq_len,impl,forward ms,backward ms,held before backward MiB,"));
  EXPECT_THAT(table.out, ContainsRegex("\n64,naive," + kTime + "," + kTime +
                                       ",,(\"?[a-z ~,]*\"?,)?\n"));                     // a CPU's memory is not counted
  EXPECT_THAT(table.out, ContainsRegex("\n64,flash,unsupported,unsupported,,(,*)\n"));  // marks are of other rows
}

TEST_F(StudyProgram, Tf32AndFlashAreTables) {
  const CommandResult tf32 = measure("tf32", {"--tb_axis=Attention.d_model=16", "--tb_axis=Attention.seq_len=32"});
  ASSERT_EQ(tf32.status, 0) << tf32.err << tf32.out;
  EXPECT_THAT(report("tf32").out, HasSubstr("precision:tf32 forward change %,precision:tf32 backward change %,"));
  const CommandResult flash = measure("flash", {"--tb_axis=Attention.d_model=16", "--tb_axis=Attention.seq_len=32"});
  ASSERT_EQ(flash.status, 0) << flash.err << flash.out;
  EXPECT_THAT(report("flash").out,
              ContainsRegex("\nfp32," + kTime + ",unsupported," + kTime + "," + kTime + ",unsupported,,"));
}

TEST_F(StudyProgram, TheCommandOfAFootnoteSelectsWhatIsMissing) {
  const CommandResult run = measure("scaling", {"--tb_axis=Model.size=tiny", "--tb_axis=Model.ctx=16,32,64",
                                                "--benchmark_filter=ctx:(16|32)/.*pass:forward/precision:fp32"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string table = report("scaling").out;
  std::size_t listed = 0;
  std::string seen;
  for (std::size_t at = table.find("transformer_bench --"); at != std::string::npos;
       at = table.find("transformer_bench --", at + 1)) {
    const std::string command = table.substr(at, table.find(".json", at) - at);
    if (seen.find(command) != std::string::npos) continue;
    seen += command + ".json\n";
    const std::string flags = command.substr(command.find(' '), command.find(" --benchmark_out") - command.find(' '));
    const CommandResult list =
        run_command({"sh", "-c", std::string{TBENCH_PROGRAM} + flags + " --benchmark_list_tests"});
    ASSERT_EQ(list.status, 0) << flags << list.err;
    EXPECT_THAT(list.out, Not(HasSubstr("ctx:16/batch:4/pass:forward/precision:fp32")));
    listed += static_cast<std::size_t>(std::ranges::count(list.out, '\n'));
  }
  EXPECT_EQ(listed, 3U * 3 * 2 - 2);  // contexts x passes x precisions, less the two that were measured
}

}  // namespace
}  // namespace tbench::test
