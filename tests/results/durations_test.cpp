#include "tbench/results/durations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tbench/core/error.hpp"

namespace tbench::results {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kHeader =
    "# format: 1\n# gpu: NVIDIA H100 80GB HBM3\n# memory_bytes: 85520809984\ncase,seconds,status\n";

std::string table_of(const std::string& rows) { return kHeader + rows; }

DurationTable parsed(const std::string& rows) { return DurationTable::parse(table_of(rows), "dir/h100.csv"); }

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(DurationTable::parse(text, "h100.csv"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

CaseId model(const char* pass, const char* precision, const char* ctx = "512", const char* impl = "sdpa") {
  return CaseId{"Model", {{"ctx", ctx}, {"pass", pass}, {"precision", precision}, {"impl", impl}}};
}

std::string row(const CaseId& id, const char* seconds, const char* status = "ok") {
  return id.name() + "," + seconds + "," + status + "\n";
}

TEST(Durations, ACasesOwnRowIsItsEstimate) {
  const DurationTable table = parsed(row(model("forward", "bf16"), "1.5") + row(model("forward", "fp32"), "9", "oom"));
  EXPECT_EQ(table.gpu(), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(table.memory_bytes(), 85520809984);
  EXPECT_EQ(table.size(), 2U);
  ASSERT_NE(table.find(model("forward", "fp32")), nullptr);
  EXPECT_EQ(*table.find(model("forward", "fp32")), (CaseDuration{.time = {9}, .status = Status::kOom}));
  EXPECT_EQ(table.find(model("forward", "fp16")), nullptr);
  const DurationEstimate own = table.estimate(model("forward", "fp32"));
  EXPECT_TRUE(own.is_measured);
  EXPECT_EQ(own.time, Seconds{9});
}

TEST(Durations, ACaseWithoutARowTakesItsNearestNeighboursMedian) {
  const auto estimate = [](const std::string& rows, const CaseId& id) {
    const DurationEstimate found = parsed(rows).estimate(id);
    EXPECT_FALSE(found.is_measured);
    return found.time.value;
  };
  const CaseId asked = model("forward", "bf16");
  std::string rows = row(CaseId{"Gemm", {{"m", "64"}}}, "1000");
  EXPECT_EQ(estimate(rows, asked), 1000);  // from the whole table
  rows += row(model("train_step", "fp32", "128"), "50") + row(model("train_step", "fp32", "256"), "70");
  EXPECT_EQ(estimate(rows, asked), 60);  // from the family
  rows += row(CaseId{"Model",
                     {{"ctx", "512"}, {"pass", "forward"}, {"precision", "bf16"}, {"impl", "sdpa"}, {"exec", "graph"}}},
              "40");
  EXPECT_EQ(estimate(rows, asked), 40);  // a row with a key that the case does not have
  rows += row(model("forward", "bf16", "512", "flash"), "4");
  EXPECT_EQ(estimate(rows, asked), 4);  // the row differs only in impl
  rows += row(model("forward", "bf16", "256"), "3");
  EXPECT_EQ(estimate(rows, asked), 3);  // the row differs only in ctx
  rows += row(model("backward", "bf16"), "2");
  EXPECT_EQ(estimate(rows, asked), 2);  // the row differs only in pass
  rows +=
      row(model("forward", "fp32"), "1") + row(model("forward", "tf32"), "0.5") + row(model("forward", "fp16"), "8");
  EXPECT_EQ(estimate(rows, asked), 1);  // the row differs only in precision
}

TEST(Durations, NeighboursWithoutATimeDoNotCount) {
  const std::string rows = row(model("forward", "fp32"), "0.01", "oom") + row(model("backward", "bf16"), "2");
  EXPECT_EQ(parsed(rows).estimate(model("forward", "bf16")).time, Seconds{2});
  EXPECT_EQ(parsed(row(model("forward", "fp32"), "0.5", "unsupported")).estimate(model("forward", "bf16")).time,
            Seconds{0.5});
}

TEST(Durations, AnEditedTableHasAnotherDigest) {
  const std::string rows = row(model("forward", "bf16"), "1.5");
  const DurationTable table = parsed(rows);
  EXPECT_THAT(table.digest(), ::testing::MatchesRegex("[0-9a-f]{12}"));
  EXPECT_EQ(table.label(), "h100@" + table.digest());
  EXPECT_EQ(parsed(rows).digest(), table.digest());
  EXPECT_NE(parsed(row(model("forward", "bf16"), "1.6")).digest(), table.digest());
}

TEST(Durations, RefusesWhatIsNoTable) {
  const auto names = [](const char* what) {
    return AllOf(HasSubstr(what), HasSubstr("'h100.csv'"), HasSubstr("Write the table again with 'tbench durations"));
  };
  EXPECT_THAT(refusal(""), names("it has no durations"));
  EXPECT_THAT(refusal(kHeader), names("it has no durations"));
  EXPECT_THAT(refusal("case,seconds,status\nA/b:c,1,ok\n"), names("the line '# format: ...' is missing"));
  EXPECT_THAT(refusal("A/b:c,1,ok\n"), names("line 1: 'A/b:c,1,ok' is not a header line"));
  EXPECT_THAT(refusal("# colour: red\n"), names("'# colour: red' is not a header line"));
  EXPECT_THAT(refusal("# gpu: A\n# gpu: B\n"), names("line 2: 'gpu' is there twice"));
  EXPECT_THAT(refusal("# format: 2\ncase,seconds,status\nA/b:c,1,ok\n"), names("format 2 is not 1"));
  EXPECT_THAT(refusal("# format: 1\n# gpu: A\n# memory_bytes: 0\ncase,seconds,status\nA/b:c,1,ok\n"),
              names("memory_bytes: '0' is not a positive"));
  EXPECT_THAT(refusal(table_of("A/b:c,1\n")), names("line 5: 'A/b:c,1' is not case,seconds,status"));
  EXPECT_THAT(refusal(table_of("nothing,1,ok\n")), names("line 5: "));
  for (const char* seconds : {"-1", "nan", "inf", "1s", ""}) {
    EXPECT_THAT(refusal(table_of(std::string{"A/b:c,"} + seconds + ",ok\n")),
                names((std::string{"'"} + seconds + "' is not a number of seconds").c_str()));
  }
  EXPECT_THAT(refusal(table_of("A/b:c,1,fine\n")), names("'fine' is not one of ok, oom"));
  EXPECT_THAT(refusal(table_of("A/b:c,1,ok\nA/b:c,2,ok\n")), names("line 6: A/b:c is there twice"));
}

TEST(Durations, TheProgramHasTheTableOfAnH100) {
  const DurationTable& table = reference_durations();
  EXPECT_EQ(find_built_in_durations("NVIDIA H100 80GB HBM3"), &table);
  EXPECT_EQ(find_built_in_durations("NVIDIA A100-SXM4-80GB"), nullptr);
  EXPECT_GT(table.size(), 1000U);
  EXPECT_GT(table.memory_bytes(), std::int64_t{79} << 30);
  EXPECT_THAT(table.label(), ::testing::StartsWith("nvidia_h100@"));
  for (const DurationTable& one : built_in_durations()) EXPECT_EQ(find_built_in_durations(one.gpu()), &one);
}

}  // namespace
}  // namespace tbench::results
