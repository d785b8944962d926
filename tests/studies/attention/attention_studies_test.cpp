// Tests the studies of attention: what their tables show for cases with a time and for cases without memory, and for an
// implementation that only some programs have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Shape {
  std::string batch, d_model, seq_len, causal;
};

const Shape kCourse{.batch = "8", .d_model = "64", .seq_len = "16384", .causal = "0"};

CaseId attention_id(const Shape& shape, const std::string& pass, const std::string& precision,
                    const std::string& impl) {
  return {"Attention",
          {{"batch", shape.batch},
           {"heads", "1"},
           {"d_model", shape.d_model},
           {"seq_len", shape.seq_len},
           {"causal", shape.causal},
           {"pass", pass},
           {"precision", precision},
           {"impl", impl}}};
}

Record forward(const Shape& shape, const std::string& precision, const std::string& impl, double ms) {
  return support::timed_record(attention_id(shape, "forward", precision, impl), Seconds{ms * 1e-3});
}

/// Returns a step of `ms`. Its backward takes `backward_ms`.
Record both(const Shape& shape, const std::string& precision, const std::string& impl, double ms, double backward_ms) {
  Record record = support::timed_record(attention_id(shape, "forward_backward", precision, impl), Seconds{ms * 1e-3});
  record.timing->phases = {{"forward", Seconds{(ms - backward_ms) * 1e-3}}, {"backward", Seconds{backward_ms * 1e-3}}};
  constexpr std::int64_t kMebi = 1024 * 1024;
  record.counters["held_bytes"] = 3.0 * kMebi;
  record.memory = MemoryUse{};
  record.memory->allocated_peak = 200 * kMebi;
  record.memory->phases = {{.phase = "forward", .allocated_peak = 131 * kMebi, .held = 130 * kMebi},
                           {.phase = "backward", .allocated_peak = 200 * kMebi, .held = 140 * kMebi}};
  return record;
}

/// Returns the study's table for the shape and the precisions of the records.
StudySection table_of(const std::string& study, std::vector<Record> records, const std::string& filter) {
  const results::NamedResults results = support::gpu_results(std::move(records));
  return study_report(find_study(study, "--study"), std::vector{results}, {.axes = {}, .filter = filter}).sections[0];
}

std::vector<std::string> headers(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return all;
}

std::vector<std::string> texts(const std::vector<StudyCell>& row) {
  std::vector<std::string> all;
  for (const StudyCell& cell : row) all.push_back(cell.footnote > 0 ? "missing" : cell.text);
  return all;
}

TEST(AttentionStudies, ABackwardWithoutMemoryKeepsItsForwardAndWhatIsHeld) {
  Record no_memory = support::failed_record(attention_id(kCourse, "forward_backward", "fp32", "naive"), Status::kOom,
                                            "no room for 8 GiB");
  no_memory.counters["held_bytes"] = 8.0 * 1024 * 1024 * 1024;
  const StudySection table = table_of("attention_grid",
                                      {forward(kCourse, "fp32", "naive", 12), no_memory,
                                       forward(kCourse, "fp32", "flash", 2), both(kCourse, "fp32", "flash", 9, 6)},
                                      "d_model:64/seq_len:(16384|8192)/");
  EXPECT_THAT(table.caption, HasSubstr("Attention batch:8 heads:1 d_model:64 causal:0 precision:fp32. "));
  EXPECT_THAT(headers(table), ElementsAre("seq_len", "impl", "forward ms", "backward ms", "held before backward MiB",
                                          "with q, k, v MiB", "peak before backward MiB"));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_THAT(texts(table.rows[0]), ElementsAre("8192", "naive", "missing", "missing", "", "", ""));
  // q, k and v have 8 x 16,384 x 64 elements of 4 bytes each: 32 MiB.
  EXPECT_THAT(texts(table.rows[2]), ElementsAre("16384", "naive", "12.00", "OOM", "8192", "8288", ""));
  EXPECT_THAT(texts(table.rows[3]), ElementsAre("16384", "flash", "2.000", "6.000", "3.000", "99.00", "131.0"));
}

TEST(AttentionStudies, CompiledIsInTheTableWhereAFileHoldsIt) {
  const std::string filter = "d_model:64/seq_len:16384/";
  const StudySection without = table_of("attention_grid", {forward(kCourse, "fp32", "naive", 12)}, filter);
  EXPECT_THAT(without.rows, ::testing::SizeIs(2));
  const StudySection with = table_of(
      "attention_grid", {forward(kCourse, "fp32", "naive", 12), forward(kCourse, "fp32", "compiled", 8)}, filter);
  ASSERT_THAT(with.rows, ::testing::SizeIs(3));
  EXPECT_THAT(texts(with.rows[1]), ElementsAre("compiled", "8.000", "missing", "", "", ""));
}

TEST(AttentionStudies, Tf32IsAChangeInPercentOfEachPassesTime) {
  const StudySection table = table_of("tf32",
                                      {forward(kCourse, "fp32", "naive", 10), forward(kCourse, "tf32", "naive", 4),
                                       both(kCourse, "fp32", "naive", 30, 20), both(kCourse, "tf32", "naive", 26, 21)},
                                      "d_model:64/seq_len:16384/");
  EXPECT_THAT(headers(table), ElementsAre("precision:fp32 forward ms", "precision:tf32 forward ms",
                                          "precision:fp32 backward ms", "precision:tf32 backward ms",
                                          "precision:tf32 forward change %", "precision:tf32 backward change %"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(texts(table.rows[0]), ElementsAre("10.00", "4.000", "20.00", "21.00", "-60.0", "+5.0"));
}

TEST(AttentionStudies, FlashIsHeldAgainstNaiveForwardBackwardAndEndToEnd) {
  const Shape shape{.batch = "1", .d_model = "128", .seq_len = "65536", .causal = "1"};
  std::vector<Record> records{
      forward(shape, "bf16", "naive", 30),
      forward(shape, "bf16", "flash", 10),
      both(shape, "bf16", "naive", 90, 60),
      both(shape, "bf16", "flash", 30, 20),
      forward(shape, "fp32", "naive", 60),
      support::failed_record(attention_id(shape, "forward_backward", "fp32", "naive"), Status::kOom, "no room")};
  const StudySection table = table_of("flash", std::move(records), "d_model:128/seq_len:65536/");
  EXPECT_THAT(
      headers(table),
      ElementsAre("precision", "impl:naive forward ms", "impl:flash forward ms", "impl:naive backward ms",
                  "impl:naive end to end ms", "impl:flash backward ms", "impl:flash end to end ms",
                  "impl:flash forward speed-up", "impl:flash backward speed-up", "impl:flash end to end speed-up"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(texts(table.rows[0]),
              ElementsAre("bf16", "30.00", "10.00", "60.00", "90.00", "20.00", "30.00", "3.000", "3.000", "3.000"));
  EXPECT_THAT(texts(table.rows[1]), ElementsAre("fp32", "60.00", "missing", "OOM", "", "missing", "", "", "", ""));
}

}  // namespace
}  // namespace tbench::studies
