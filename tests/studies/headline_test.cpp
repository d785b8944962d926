// Tests headlines of few cases whose numbers are computed by hand.
#include "tbench/studies/headline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kTokens = 2000;

Record step(const std::string& impl, const std::string& size, double milliseconds,
            const std::string& pass = "train_step") {
  Record record = support::timed_record(support::model_id(pass, impl, size), {milliseconds / 1e3});
  record.work = Work{.flop = {4e12}, .min_flop = Flop{2e12}, .tokens = kTokens};
  record.boost_peak = FlopPerSecond{1e15};
  record.device = DeviceState{};
  record.device->power = Watts{500};
  return record;
}

Record attention(const std::string& impl, const std::string& length, double milliseconds,
                 const std::string& precision = "bf16") {
  return support::timed_record({"Attention",
                                {{"heads", "1"},
                                 {"seq_len", length},
                                 {"causal", "1"},
                                 {"pass", "forward"},
                                 {"precision", precision},
                                 {"impl", impl}}},
                               {milliseconds / 1e3});
}

results::NamedResults file_of(const std::string& gpu, std::vector<Record> records, const std::string& commit = "aaaa") {
  results::NamedResults file = support::gpu_results(std::move(records));
  file.file.environment.gpu->name = gpu;
  file.file.environment.gpu->power_limit_w = 700;
  file.file.environment.commit = commit;
  return file;
}

std::vector<std::string> texts(const std::vector<StudyCell>& row) {
  std::vector<std::string> all;
  for (const StudyCell& cell : row) all.push_back(cell.text);
  return all;
}

std::vector<std::string> headers(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return all;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// 2,000 tokens in 10 ms are 200,000 tokens/s. 2e12 FLOP at 1e15 FLOP/s take 2 ms, a fifth of the step. 500 W for 10 ms
// are 5 J, 2.5 mJ per token. A price of 3.6 per hour is 0.001 per second, in which 200,000 tokens are made.
TEST(Headline, HasTheFastestStepOfEachSizeAndGpu) {
  const std::vector<results::NamedResults> files{
      file_of("NVIDIA H100 80GB HBM3", {step("eager", "small", 20), step("fused", "small", 10)}),
      file_of("NVIDIA H200", {step("fused", "small", 5), step("eager", "medium", 40)})};
  const StudyReport report = headline_report(files, {.prices = {{"H100", 3.6}, {"NVIDIA H200", 3.6}}, .filter = {}});
  ASSERT_THAT(report.sections, SizeIs(1));
  const StudySection& section = report.sections.front();
  EXPECT_THAT(headers(section),
              ElementsAre("size", "GPU", "impl", "step ms", "tokens/s", "MFU %", "mJ/token", "price of 1e9 tokens"));
  ASSERT_THAT(section.rows, SizeIs(3));
  EXPECT_THAT(texts(section.rows[0]),
              ElementsAre("small", "H100", "fused", "10.00", "200,000", "20.0", "2.500", "5.00"));
  EXPECT_THAT(texts(section.rows[1]),
              ElementsAre("small", "H200", "fused", "5.000", "400,000", "40.0", "1.250", "2.50"));
  EXPECT_THAT(texts(section.rows[2]),
              ElementsAre("medium", "H200", "eager", "40.00", "50,000", "5.0", "10.00", "20.00"));
  EXPECT_THAT(report.answers,
              ElementsAre("H200 against H100 (1 size): 2.00 times the tokens/s, 0.50 of the energy per token.",
                          "For these steps, an hour of H200 is worth up to 2.00 hours of H100: with H100 at 3.60 per "
                          "hour, H200 breaks even at 7.20. At 3.60, a token costs 50 % less on H200 than on H100.",
                          "H100: 200,000 tokens/s (small), MFU 20.0 %.",
                          "H200: 400,000 tokens/s (small) to 50,000 (medium), MFU 5.0 to 40.0 %."));
  EXPECT_THAT(report.notes, ElementsAre("Not measured: medium on H100.",
                                        "The price of 1e9 tokens is for these prices per hour: H100 3.60, H200 3.60.",
                                        "Builds of the steps: H100 aaaa of 2026-01-02; H200 aaaa of 2026-01-02."));
}

TEST(Headline, PrefersTrainStepsAndTellsWhatAnHourIsWorth) {
  const std::vector<results::NamedResults> files{
      file_of("NVIDIA H100",
              {step("eager", "small", 1, "forward"), step("eager", "medium", 2, "forward"), step("eager", "small", 4)}),
      file_of("NVIDIA H200", {step("eager", "small", 5)}, "bbbb")};
  const StudyReport report = headline_report(files, {});
  EXPECT_THAT(report.sections.front().caption, HasSubstr("Training step of 4 x 512 tokens in bf16"));
  EXPECT_THAT(report.answers, Contains("For these steps, an hour of H200 is worth up to 0.80 hours of H100."));
  EXPECT_THAT(report.notes,
              Contains("Builds of the steps: H100 aaaa of 2026-01-02; H200 bbbb of 2026-01-02. A difference "
                       "between builds shows as one between GPUs."));
}

TEST(Headline, ValuesAnHourWithOnePriceOrTwo) {
  const std::vector<results::NamedResults> files{file_of("NVIDIA H100", {step("eager", "small", 6)}),
                                                 file_of("NVIDIA H200", {step("eager", "small", 5)})};
  const auto report = [&](std::vector<GpuPrice> prices) { return headline_report(files, {std::move(prices), {}}); };
  const std::string worth = "For these steps, an hour of H200 is worth up to 1.20 hours of H100";
  EXPECT_THAT(report({{"H100", 2}}).answers,
              Contains(worth + ": with H100 at 2.00 per hour, H200 breaks even at 2.40."));
  EXPECT_THAT(report({{"H100", 2}}).notes, Contains("A GPU has no price; add --price=H200=PRICE."));
  EXPECT_THAT(report({{"H200", 3}}).answers,
              Contains(worth + ": with H200 at 3.00 per hour, H100 breaks even at 2.50."));
  EXPECT_THAT(report({{"H100", 2}, {"H200", 3}}).answers,
              Contains(HasSubstr(" At 3.00, a token costs 25 % more on H200 than on H100.")));
  EXPECT_THAT(report({{"H100", 2}, {"H200", 2.4}}).answers,
              Contains(HasSubstr(" At 2.40, a token costs as much on H200 as on H100.")));
}

TEST(Headline, TakesTheNewestBuildOfEachCaseAndNamesWhatItLeavesOut) {
  std::vector<results::NamedResults> files{
      file_of("NVIDIA H100", {step("eager", "small", 2), step("eager", "medium", 8)}, "bbbb"),
      file_of("NVIDIA H100", {step("eager", "small", 4)}, "cccc"),
      file_of("NVIDIA H100", {step("eager", "small", 1)}, "aaaa")};
  files[0].file.environment.date = "2026-01-03T02:00:00Z";
  files[1].file.environment.date = "2026-01-05T00:00:00Z";
  files[2].file.environment.date = "2026-01-03T01:00:00Z";
  const StudyReport report = headline_report(files, {});
  ASSERT_THAT(report.sections.front().rows, SizeIs(2));
  EXPECT_EQ(report.sections.front().rows[0][3].text, "4.000") << "of the newest build, though it is slower";
  EXPECT_EQ(report.sections.front().rows[1][3].text, "8.000") << "of the newest build that has the case";
  EXPECT_THAT(
      report.notes,
      ElementsAre("H100: of each case, the records of the newest build; left out 2 older records, among them all "
                  "of aaaa of 2026-01-03.",
                  "Builds of the steps: H100 bbbb of 2026-01-03, cccc of 2026-01-05."));
}

TEST(Headline, ShowsTheMiddleOfSeveralProcesses) {
  const std::vector<results::NamedResults> files{file_of("NVIDIA H100", {step("eager", "small", 4)}),
                                                 file_of("NVIDIA H100", {step("eager", "small", 9)}),
                                                 file_of("NVIDIA H100", {step("eager", "small", 5)})};
  const StudyReport report = headline_report(files, {});
  ASSERT_THAT(report.sections.front().rows, SizeIs(1));
  EXPECT_THAT(texts(report.sections.front().rows[0]), Contains("5.000"));
  EXPECT_THAT(report.notes, Contains("Several measurements of a case: the middle one (of at most 3)."));
  EXPECT_THAT(report.sources, SizeIs(3));
}

TEST(Headline, SumsUpManyFilesByGpu) {
  std::vector<results::NamedResults> files{file_of("NVIDIA H200", {step("eager", "small", 4)})};
  for (int i = 0; i < 8; ++i) {
    files.push_back(
        file_of("NVIDIA H100", {step("eager", fmt::format("size_{}", i / 2), 4)}, fmt::format("commit_{}", i / 2)));
    files.back().file.environment.date = fmt::format("2026-01-0{}", 2 + i / 2);
  }
  EXPECT_THAT(headline_report(files, {}).sources,
              ElementsAre("NVIDIA H200: 1 file, aaaa of 2026-01-02",
                          "NVIDIA H100: 8 files, 4 builds of 2026-01-02 to 2026-01-05"));
}

TEST(Headline, SaysWhichRunsExceedTheMemoryOfOneGpu) {
  Record fits = step("eager", "xl", 4);
  fits.memory.emplace().allocated_peak = std::int64_t{90} << 30;
  const Record fails = support::failed_record(fits.id, Status::kOom, "out of memory");
  const std::vector<results::NamedResults> files{file_of("NVIDIA H100", {step("eager", "small", 4), fails}),
                                                 file_of("NVIDIA H200", {step("eager", "small", 4), fits})};
  const StudyReport report = headline_report(files, {});
  ASSERT_THAT(report.sections, SizeIs(2));
  EXPECT_THAT(report.sections[1].rows,
              ElementsAre(testing::ResultOf(&texts, ElementsAre("H200", "90.0", "H100", fits.id.name()))));
  EXPECT_THAT(report.answers, Contains("1 case runs on one of the GPUs alone: another lacks the memory."));
  EXPECT_THAT(texts(report.sections[0].rows[2]), Contains("OOM"));
  const StudyReport without =
      headline_report(std::vector{files[0], file_of("NVIDIA H200", {step("eager", "small", 4)})}, {});
  EXPECT_THAT(without.sections, SizeIs(1)) << "a case that the other GPU did not run is no evidence";
}

TEST(Headline, ComparesFlashWithTheFastestOfPytorch) {
  const std::vector<results::NamedResults> files{file_of(
      "NVIDIA H100", {step("eager", "small", 4), attention("flash", "64", 1), attention("sdpa_flash", "64", 4),
                      attention("sdpa_cudnn", "64", 2), attention("naive", "64", 0.1), attention("flash", "128", 4),
                      attention("sdpa_cudnn", "128", 2), attention("flash", "256", 1)})};
  const StudyReport report = headline_report(files, {});
  ASSERT_THAT(report.sections, SizeIs(2));
  EXPECT_THAT(report.sections[1].rows,
              ElementsAre(testing::ResultOf(&texts, ElementsAre("H100", "forward", "causal", "bf16", "2", "1.00",
                                                                "2.00", "1", "0.50", "heads:1 seq_len:128"))));
  EXPECT_THAT(report.answers,
              Contains("Attention in bf16 on H100: flash is 1.00 times as fast as the fastest sdpa_* (geometric "
                       "mean of 2 shapes); slower in 1, at worst 0.50."));
}

TEST(Headline, ComparesTheAttentionOfGpus) {
  const std::vector<results::NamedResults> files{
      file_of("NVIDIA H100",
              {step("eager", "small", 4), attention("flash", "64", 4), attention("sdpa_flash", "64", 4),
               attention("flash", "128", 9), attention("flash", "256", 1), attention("flash", "64", 9, "fp32")}),
      file_of("NVIDIA H200", {step("eager", "small", 4), attention("flash", "64", 2), attention("flash", "128", 2),
                              attention("flash", "64", 1, "fp32")}),
      file_of("NVIDIA A100", {step("eager", "small", 4)})};
  const StudyReport report = headline_report(files, {.prices = {{"H100", 2}, {"H200", 3}}, .filter = {}});
  EXPECT_THAT(
      report.answers,
      IsSupersetOf({"Attention in bf16 by flash, H200 against H100 (2 shapes, geometric mean): 3.00 times as fast.",
                    "For attention, an hour of H200 is worth up to 3.00 hours of H100: with H100 at 2.00 per hour, "
                    "H200 breaks even at 6.00. At 3.00, the same attention costs 50 % less on H200 than on H100.",
                    "Attention in bf16: A100 and H100 have no shape of flash in common.",
                    "Attention in bf16 on H200: no shape has times of both flash and sdpa_*.",
                    "Attention in bf16 on A100: no shape has times of both flash and sdpa_*."}));
}

TEST(Headline, NamesGpusApart) {
  const std::vector<results::NamedResults> files{file_of("NVIDIA H100 PCIe", {step("eager", "small", 4)}),
                                                 file_of("NVIDIA H100 80GB HBM3", {step("eager", "small", 2)})};
  const StudyReport report = headline_report(files, {.prices = {{"NVIDIA H100 PCIe", 1}}, .filter = {}});
  EXPECT_EQ(report.sections.front().rows[0][1].text, "NVIDIA H100 PCIe");
  EXPECT_THAT(error_of([&] {
                static_cast<void>(headline_report(files, {.prices = {{"H100", 1}}, .filter = {}}));
              }),
              "--price: 'H100' is no GPU of the files; give one of: NVIDIA H100 PCIe, NVIDIA H100 80GB HBM3");
}

TEST(Headline, TellsThatNvmlAveragesPower) {
  Record hot = step("eager", "small", 4);
  hot.device->power = Watts{742};
  const StudyReport report = headline_report(std::vector{file_of("NVIDIA H100", {hot})}, {});
  EXPECT_THAT(report.notes, Contains(HasSubstr("small H100 742 W")));
  EXPECT_THAT(headline_report(std::vector{file_of("NVIDIA H100", {step("eager", "small", 4)})}, {}).notes,
              Not(Contains(HasSubstr("NVML"))));
}

TEST(Headline, RefusesWhatItCannotCompare) {
  const std::vector<results::NamedResults> one{file_of("NVIDIA H100", {step("eager", "small", 4)})};
  std::vector<results::NamedResults> cpu = one;
  cpu.front().file.environment.gpu.reset();
  const auto refusal = [](const std::vector<results::NamedResults>& files, const HeadlineOptions& options) {
    return error_of([&] { static_cast<void>(headline_report(files, options)); });
  };
  EXPECT_EQ(refusal(cpu, {}), "--headline: 'a.json' was measured on a CPU; give results of GPUs");
  EXPECT_THAT(refusal(one, {.prices = {}, .filter = "nothing"}), HasSubstr("--filter=nothing: selects no case"));
  EXPECT_THAT(refusal({file_of("NVIDIA H100", {attention("flash", "64", 1)})}, {}),
              HasSubstr("--headline: no case of Model has a time"));
  EXPECT_THAT(refusal(one, {.prices = {{"H100", 1}, {"H100", 2}}, .filter = {}}),
              "--price: H100 has two prices; give one");
}

TEST(ParsePrice, TakesAGpuAndAPricePerHour) {
  EXPECT_EQ(parse_price("H100=2.5", "--price").gpu, "H100");
  EXPECT_EQ(parse_price("RTX 4090=.5", "--price").per_hour, 0.5);
  for (const char* const text : {"H100", "=2", "H100=", "H100=0", "H100=-1", "H100=2x", "H100=inf", "H100=nan"}) {
    EXPECT_THAT(error_of([&] { static_cast<void>(parse_price(text, "--price")); }),
                HasSubstr(std::string{"--price: '"} + text + "' is not GPU=PRICE"));
  }
}

}  // namespace
}  // namespace tbench::studies
