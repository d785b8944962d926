// Tests the two commands of a study, `transformer_bench --tb_study` and `tbench report --study`, on the CPU with sizes
// that it can run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "csv_table.hpp"
#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;

const auto kIsTime = MatchesRegex("[0-9.]+");  // a time in a study's CSV
constexpr const char* kCommandColumn = "measured_by";

class StudyProgram : public InFolder {
 protected:
  CommandResult measure(const std::string& study, std::vector<std::string> flags) const {
    // A fixed number of samples keeps every case from being unstable on a busy machine.
    flags.insert(flags.begin(), {TBENCH_PROGRAM, "--tb_device=cpu", "--tb_study=" + study, "--benchmark_out=" + out_,
                                 "--tb_warmup=1", "--tb_samples=3"});
    return run_command(flags);
  }
  [[nodiscard]] std::string report(const std::string& study) const {
    const CommandResult result = run_command({TBENCH_TOOL, "report", "--study", study, "--csv", out_});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
};

TEST_F(StudyProgram, PrecisionTakesTheUsersAxesIntoTheTable) {
  const CommandResult run =
      measure("precision", {"--tb_axis=Model.size=tiny", "--tb_axis=Model.ctx=16", "--benchmark_filter=pass:forward/"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string page = report("precision");
  EXPECT_THAT(page, HasSubstr("pass,impl,precision:fp32,precision:tf32,precision:bf16,precision:fp16,"));
  const CsvTable table{page};
  // fp32 and bf16 have a time. A CPU has neither tf32 nor fp16. The filter excluded forward_backward.
  EXPECT_THAT(table.row({{"pass", "forward"}}),
              AllOf(Contains(Pair("precision:fp32", kIsTime)), Contains(Pair("precision:bf16", kIsTime)),
                    IsSupersetOf(CsvTable::Row{{"precision:tf32", "unsupported"}, {"precision:fp16", "unsupported"}})));
  CsvTable::Row missing = table.row({{"pass", "forward_backward"}});
  EXPECT_EQ(missing[kCommandColumn],
            "./transformer_bench --tb_study=precision --tb_axis=Model.ctx=16 --tb_axis=Model.size=tiny "
            "--benchmark_filter='/pass:forward_backward/' --benchmark_out=precision_1.json");
  for (const char* const given : {"table", "size", "ctx", "batch", "pass", "impl", kCommandColumn})
    missing.erase(given);
  EXPECT_THAT(missing, Each(Pair(::testing::_, "")));
}

TEST_F(StudyProgram, WarmupCountsItsStepsInProcessesOfTheirOwn) {
  const CommandResult run =
      measure("warmup", {"--tb_axis=Warmup.size=tiny", "--tb_axis=Warmup.ctx=16", "--tb_axis=Warmup.warmup=0,2",
                         "--tb_axis=Warmup.steps=10", "--benchmark_filter=pass:(forward|train_step)/"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("4 cases: 4 ok"));
  const std::string page = report("warmup");
  EXPECT_THAT(page, HasSubstr("steps,warmup,mean ms,std ms,tokens/s,median ms,peak MiB,first step ms,"));
  const CsvTable table{page};
  for (const char* pass : {"forward", "train_step"}) {
    for (const char* warm_up : {"0", "2"}) {
      const CsvTable::Row row = table.row({{"pass", pass}, {"warmup", warm_up}});
      for (const char* time : {"mean ms", "std ms", "median ms", "first step ms"}) {
        EXPECT_THAT(row, Contains(Pair(time, kIsTime)));
      }
      EXPECT_THAT(row, Contains(Pair("tokens/s", MatchesRegex("[0-9,]+"))));
      EXPECT_THAT(row, Contains(Pair("peak MiB", "")));
      EXPECT_THAT(row, Contains(Pair(kCommandColumn, "")));
    }
  }
}

TEST_F(StudyProgram, DepthExtrapolatesASizeOfTheUsersOwn) {
  const CommandResult run =
      measure("depth", {"--tb_size=mine:16,32,4,2", "--tb_axis=Model.size=mine", "--tb_axis=Model.ctx=16",
                        "--tb_axis=Model.layers=1,2", "--benchmark_filter=pass:forward/.*impl:sdpa"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("3 cases: 3 ok"));  // one layer, two, and all four
  const CsvTable table{report("depth")};
  EXPECT_THAT(table.row({{"pass", "forward"}, {"impl", "sdpa"}, {"layers", "2"}}),
              AllOf(Contains(Pair("all layers", "4")), Contains(Pair("extrapolated ms", kIsTime)),
                    Contains(Pair("extrapolated / measured", kIsTime))));
}

TEST_F(StudyProgram, RegimesComparesBurstsWithSustainedLaunches) {
  const CommandResult run = measure(
      "regimes", {"--tb_axis=Attention.batch=1", "--tb_axis=Attention.heads=1", "--tb_axis=Attention.d_model=16",
                  "--tb_axis=Attention.seq_len=32", "--tb_axis=Attention.precision=fp32",
                  "--tb_axis=Attention.impl=naive,sdpa_flash", "--benchmark_filter=pass:forward"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("4 cases: 4 ok"), HasSubstr("1 shape")));
  const CsvTable table{report("regimes")};
  for (const char* const regime : {"", "sustained"}) {
    EXPECT_THAT(table.row({{"pass", "forward"}, {"impl", "naive"}, {"regime", regime}}), Contains(Pair("ms", kIsTime)));
  }
}

TEST_F(StudyProgram, AccumulationShowsTheCoursesSumsToTheLastDigit) {
  const CommandResult run = measure("accumulation", {"--benchmark_filter=op:sum/n:1000/"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("7 cases: 7 ok"));
  const std::string page = report("accumulation");
  for (const std::string row : {"1000,fp32,fp32,sequential,10.000133514404297,", "1000,fp16,fp16,sequential,9.953125,",
                                "1000,fp16,fp32,sequential,10.00213623046875,",
                                "1000,fp16,fp32,cast_up,10.00213623046875,", "1000,bf16,bf16,sequential,4,"}) {
    EXPECT_THAT(page, HasSubstr("\naccumulation 1,sum," + row));
  }
}

TEST_F(StudyProgram, AutocastHasADtypeInEveryCell) {
  const CommandResult run = measure("autocast", {});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("4 cases: 4 ok"));
  const std::string page = report("autocast");
  EXPECT_THAT(page, HasSubstr("quantity,precision:fp16,precision:bf16,"));
  EXPECT_THAT(page, HasSubstr("\nautocast 1,toy,fc1,fp16,bf16,"));
  EXPECT_THAT(page, HasSubstr("\nautocast 2,transformer,q projection,fp16,bf16,"));
  EXPECT_THAT(page, HasSubstr("\nautocast 2,transformer,gradients,fp32,fp32,"));
  EXPECT_THAT(page, Not(HasSubstr(",,")));  // the family provides every quantity of the study
}

TEST_F(StudyProgram, AttentionGridShowsForwardAndBackwardOfEachImplementation) {
  const CommandResult run = measure("attention_grid", {"--tb_axis=Attention.batch=2", "--tb_axis=Attention.d_model=16",
                                                       "--tb_axis=Attention.seq_len=32,64"});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  const std::string page = report("attention_grid");
  EXPECT_THAT(page, HasSubstr("precision,impl,forward ms,backward ms,held before backward MiB,"));
  const CsvTable table{page};
  EXPECT_THAT(table.row({{"seq_len", "64"}, {"impl", "naive"}}),
              AllOf(Contains(Pair("forward ms", kIsTime)), Contains(Pair("backward ms", kIsTime)),
                    Contains(Pair("held before backward MiB", ""))));  // memory is not counted on a CPU
  EXPECT_THAT(table.row({{"seq_len", "64"}, {"impl", "flash"}}),
              IsSupersetOf(CsvTable::Row{
                  {"forward ms", "unsupported"}, {"backward ms", "unsupported"}, {"held before backward MiB", ""}}));
  EXPECT_THAT(page, Not(HasSubstr(kCommandColumn))) << "everything was measured";
}

TEST_F(StudyProgram, Tf32AndFlashAreTables) {
  const CommandResult tf32 = measure("tf32", {"--tb_axis=Attention.d_model=16", "--tb_axis=Attention.seq_len=32"});
  ASSERT_EQ(tf32.status, 0) << tf32.err << tf32.out;
  EXPECT_THAT(report("tf32"), HasSubstr("precision:tf32 forward change %,precision:tf32 backward change %,"));
  const CommandResult flash = measure("flash", {"--tb_axis=Attention.d_model=16", "--tb_axis=Attention.seq_len=32"});
  ASSERT_EQ(flash.status, 0) << flash.err << flash.out;
  EXPECT_THAT(report("flash"),
              ::testing::ContainsRegex("\nflash,1,1,16,32,1,fp32,[0-9.]+,unsupported,[0-9.]+,[0-9.]+,unsupported,,"));
}

TEST_F(StudyProgram, TheCommandOfAFootnoteSelectsWhatIsMissing) {
  const CommandResult run = measure("scaling", {"--tb_axis=Model.size=tiny", "--tb_axis=Model.ctx=16,32,64",
                                                "--benchmark_filter=ctx:(16|32)/.*pass:forward/precision:fp32"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string table = report("scaling");
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
  EXPECT_EQ(listed, 3U * 3 * 2 - 2);  // contexts x passes x precisions, without the two that were measured
}

}  // namespace
}  // namespace tbench::test
