// Tests the sentences at the beginning of a page of results, each with records made for its rule.
#include "html/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<SummaryPart> summary_of(const std::vector<results::NamedResults>& results) {
  return page_summary(results, compare_with_first(results));
}

std::vector<std::string> texts_of(const SummaryPart& part) {
  std::vector<std::string> texts;
  for (const Sentence& s : part.sentences) texts.push_back(s.text);
  return texts;
}

Tone tone_of(const SummaryPart& part, const std::string& beginning) {
  for (const Sentence& s : part.sentences) {
    if (s.text.starts_with(beginning)) return s.tone;
  }
  ADD_FAILURE() << "no sentence begins with '" << beginning << "'";
  return Tone::kPlain;
}

results::ResultFile file_of(std::vector<Record> records) {
  results::ResultFile file = support::golden_file();
  file.interrupted = false;
  file.records = std::move(records);
  return file;
}

Record forward(const std::string& impl, double seconds) {
  return support::timed_record(support::model_id("forward", impl), Seconds{seconds});
}

TEST(PageSummary, SaysWhatWasMeasuredAndHow) {
  results::ResultFile file = file_of({forward("sdpa", 0.02), forward("flash", 0.01)});
  EXPECT_THAT(texts_of(summary_of({{"a.json", file}}).at(0)),
              ElementsAre("2 cases on NVIDIA H200, 2026-01-02; a time is the median of 3 samples."));
  file.records[1].timing->samples_s.assign(400, 0.01);
  file.options["processes"] = "5";
  file.environment.gpu->mig = true;
  file.interrupted = true;
  const SummaryPart part = summary_of({{"a.json", file}}).at(0);
  EXPECT_EQ(part.sentences.at(0).text,
            "2 cases on NVIDIA H200 (a MIG instance, not the whole GPU), 2026-01-02; a time is the median of 3 to 400 "
            "samples in each of 5 processes.");
  EXPECT_EQ(tone_of(part, "The run was interrupted"), Tone::kWarning);
  file.environment = support::cpu_environment();
  EXPECT_THAT(summary_of({{"a.json", file}}).at(0).sentences.at(0).text, HasSubstr(", without a GPU"));
}

TEST(PageSummary, SaysWhatCouldNotRunAndWhy) {
  const auto failed = [](const std::string& impl, Status status, const std::string& reason) {
    return support::failed_record(support::model_id("forward", impl), status, reason);
  };
  const SummaryPart part =
      summary_of({{"a.json", file_of({forward("sdpa", 0.02), failed("a", Status::kOom, "1 byte asked for"),
                                      failed("b", Status::kOom, "2 bytes asked for"),
                                      failed("c", Status::kUnsupported, "needs compute capability 9.0"),
                                      failed("d", Status::kUnsupported, "head_dim 512"),
                                      failed("e", Status::kUnsupported, "head_dim 512"),
                                      failed("f", Status::kIncorrect, "logits[3] is NaN")})}})
          .at(0);
  EXPECT_THAT(texts_of(part),
              ElementsAre(StartsWith("7 cases on "), "2 cases do not fit into the GPU's memory: Model a, Model b.",
                          "3 cases cannot run here: Model d, Model e (head_dim 512); Model c (needs compute capability "
                          "9.0).",
                          "1 case gave a wrong result: Model f (logits[3] is NaN)."));
  EXPECT_EQ(tone_of(part, "2 cases do"), Tone::kWarning);
  EXPECT_EQ(tone_of(part, "1 case gave"), Tone::kBad);
}

TEST(PageSummary, NamesThreeCasesAndCountsTheRest) {
  std::vector<Record> records;
  for (const char* size : {"a", "b", "c", "d", "e"}) {
    records.push_back(support::failed_record(support::model_id("forward", "eager", size), Status::kOom, "too much"));
  }
  EXPECT_THAT(texts_of(summary_of({{"a.json", file_of(records)}}).at(0)),
              Contains("5 cases do not fit into the GPU's memory: Model a, Model b, Model c, 2 more."));
}

TEST(PageSummary, SaysWhatNumbersCount) {
  std::vector<Record> records;
  for (const std::int64_t ctx : {512, 1024}) {
    records.push_back(
        support::failed_record(support::model_id("forward", "eager", "small", ctx), Status::kOom, "too much"));
  }
  EXPECT_THAT(texts_of(summary_of({{"a.json", file_of(records)}}).at(0)),
              Contains("2 cases do not fit into the GPU's memory: Model ctx 512, Model ctx 1024."));
}

TEST(PageSummary, CutsLongReasons) {
  const Record failed =
      support::failed_record(support::model_id("forward", "a"), Status::kCrashed, std::string(500, 'x'));
  const std::vector<std::string> texts = texts_of(summary_of({{"a.json", file_of({failed})}}).at(0));
  EXPECT_THAT(texts.back(), AllOf(StartsWith("1 case crashed: "), HasSubstr("xxx…)")));
  EXPECT_LT(texts.back().size(), 250U);
}

TEST(PageSummary, SaysOnceThatARunWasInterrupted) {
  results::ResultFile file = file_of({forward("sdpa", 0.02)});
  file.interrupted = true;
  const std::vector<SummaryPart> parts = summary_of({{"a", file}, {"b", file}});
  EXPECT_THAT(texts_of(parts[1]), Contains("The run was interrupted before its last case."));
  EXPECT_THAT(texts_of(parts[2]), Not(Contains(HasSubstr("interrupted"))));
}

TEST(PageSummary, HasTheFindingsOfTheConsole) {
  Record bound = support::full_record();  // on a GPU with a slow host
  const SummaryPart part = summary_of({{"a.json", file_of({bound})}}).at(0);
  EXPECT_THAT(texts_of(part), Contains(StartsWith("1 case is limited by the host: a time differs")));
  EXPECT_EQ(tone_of(part, "1 case is limited"), Tone::kWarning);
  EXPECT_THAT(texts_of(part), Not(Contains(HasSubstr("next:"))));
}

/// Returns five processes of two cases. The first case takes `factor` times as long.
results::ResultFile processes(double factor, std::size_t count = 5) {
  std::vector<Record> records;
  for (const char* impl : {"sdpa", "flash"}) {
    for (std::size_t i = 0; i < count; ++i) {
      const double slower = std::string{impl} == "sdpa" ? factor : 1;
      Record& record = records.emplace_back(forward(impl, 0.02 * slower * (1 + 0.001 * static_cast<double>(i))));
      record.repetition_index = static_cast<std::int64_t>(i);
      record.repetitions = static_cast<std::int64_t>(count);
    }
  }
  results::ResultFile file = file_of(records);
  file.options["processes"] = std::to_string(count);
  return file;
}

TEST(PageSummary, OfAComparisonSaysWhatChangedAndHowSureThatIs) {
  const std::vector<SummaryPart> parts =
      summary_of({{"a", processes(1)}, {"b", processes(1.05)}, {"c", processes(0.9)}});
  ASSERT_EQ(parts.size(), 5U) << "three files, two comparisons";
  EXPECT_EQ(parts[3].heading, "b against a");
  EXPECT_THAT(
      texts_of(parts[3]),
      ElementsAre(testing::MatchesRegex(
                      R"(1 of 2 cases is slower.*: Model sdpa \+5\.00 % \(95 %: \+4\.[0-9]+ to \+5\.[0-9]+ %\)\.)"),
                  "1 of 2 cases is the same: no change above the threshold.",
                  "The verdicts on time rest on 5 processes per side, at a false discovery rate of 5 % over 2 cases.",
                  "On the whole it takes, by the geometric mean: Model 1.025 times as long (2 cases)."));
  EXPECT_EQ(parts[3].sentences[0].tone, Tone::kBad);
  EXPECT_THAT(parts[4].sentences[0].text, AllOf(HasSubstr("1 of 2 cases is faster"), HasSubstr("-10.00 %")));
  EXPECT_EQ(parts[4].sentences[0].tone, Tone::kGood);
}

TEST(PageSummary, OfTooFewProcessesIsUndecided) {
  const SummaryPart part = summary_of({{"a", processes(1, 1)}, {"b", processes(1.05, 1)}}).at(2);
  EXPECT_THAT(part.sentences[0].text, HasSubstr("2 of 2 cases may have changed: it takes more processes to tell"));
  EXPECT_EQ(part.sentences[0].tone, Tone::kWarning);
  EXPECT_THAT(texts_of(part), Not(Contains(HasSubstr("false discovery"))));
}

TEST(PageSummary, OfTwoGpusHasRatiosAndWhatRanOnOneAlone) {
  results::ResultFile other = processes(2);
  other.environment.gpu->name = "NVIDIA H100";
  results::ResultFile base = processes(1);
  const CaseId large = support::model_id("forward", "eager");
  base.records.push_back(support::timed_record(large, Seconds{1}));
  other.records.push_back(support::failed_record(large, Status::kOom, "too much"));
  const SummaryPart part = summary_of({{"a", base}, {"b", other}}).at(2);
  EXPECT_THAT(
      texts_of(part),
      AllOf(Contains("NVIDIA H100 against NVIDIA H200: different devices, so there are ratios and no verdicts."),
            Contains("On the whole it takes, by the geometric mean: Model 1.414 times as long (2 cases)."),
            Contains(AllOf(StartsWith("The ratios go from 1.000 (Model "), HasSubstr("flash) to 2.000 (Model sdpa)"))),
            Contains(AllOf(StartsWith("1 case ran on NVIDIA H200 alone: "), HasSubstr("(oom on the other)")))));
}

TEST(PageSummary, SaysWhyFilesAreNotCompared) {
  results::ResultFile locked = processes(1);
  locked.environment.clock_policy = "locked";
  const SummaryPart part = summary_of({{"a", processes(1)}, {"b", locked}}).at(2);
  EXPECT_THAT(texts_of(part), ElementsAre(AllOf(StartsWith("Not compared: "), HasSubstr("clock policies"))));
  EXPECT_EQ(part.sentences[0].tone, Tone::kBad);
}

TEST(SummaryJson, IsPairsOfHeadingAndSentences) {
  const std::vector<SummaryPart> parts{{.heading = "a", .sentences = {{"One.", Tone::kPlain}, {"Two.", Tone::kBad}}}};
  EXPECT_EQ(summary_json(parts).dump(), R"([["a",[["One.",""],["Two.","bad"]]]])");
}

results::NamedResults of_gpu(const std::string& label, const std::string& gpu, std::vector<Record> records) {
  results::ResultFile file = file_of(std::move(records));
  file.environment.gpu->name = gpu;
  return {label, std::move(file)};
}

Record train_step(double seconds) {
  Record record = support::timed_record(support::model_id("train_step", "eager"), Seconds{seconds});
  record.work = Work{.flop = {4e12}, .tokens = 2000};
  return record;
}

TEST(CollectionSummary, BeginsWithTheHeadlineAndTheNumberOfUnrelatedFiles) {
  const std::vector<results::NamedResults> files{of_gpu("a.json", "NVIDIA H100", {train_step(0.02)}),
                                                 of_gpu("b.json", "NVIDIA H200", {train_step(0.01)}),
                                                 of_gpu("c.json", "NVIDIA H100", {forward("flash", 0.01)})};
  const std::vector<SummaryPart> parts = summary_of(files);
  ASSERT_EQ(parts.size(), 5U) << "all files, each file, and b.json against a.json";
  EXPECT_TRUE(parts[0].is_of_all);
  EXPECT_THAT(texts_of(parts[0]),
              AllOf(Contains(StartsWith("H200 against H100 (1 size): 2.00 times the tokens/s")),
                    Contains("1 file has too few cases in common with a.json to be compared with it.")));
  EXPECT_EQ(parts[4].heading, "b.json against a.json");
}

TEST(CollectionSummary, IsNotOfFilesOfOneComparison) {
  const results::NamedResults a = of_gpu("a.json", "NVIDIA H100", {train_step(0.02)});
  const results::NamedResults b = of_gpu("b.json", "NVIDIA H200", {train_step(0.02)});
  const results::NamedResults c = of_gpu("c.json", "NVIDIA H100", {forward("flash", 0.01)});
  const auto part_of = [](const std::vector<results::NamedResults>& files) {
    return collection_part(files, compare_with_first(files));
  };
  EXPECT_EQ(part_of({a, a, a}), std::nullopt) << "processes of one GPU model";
  EXPECT_EQ(part_of({a, b}), std::nullopt) << "two files";
  EXPECT_THAT(texts_of(part_of({a, c}).value()), Contains(HasSubstr("1 file has too few cases in common with a.json")));
  EXPECT_THAT(texts_of(part_of({c, a, a}).value()),
              Contains(HasSubstr("2 files have too few cases in common with c.json")));
}

TEST(CollectionSummary, ThreeFilesAreComparedIfHalfTheCasesOfTheSmallerAreCommon) {
  const results::NamedResults all =
      of_gpu("a.json", "NVIDIA H100", {forward("a", 1), forward("b", 1), forward("c", 1)});
  const results::NamedResults half = of_gpu("b.json", "NVIDIA H100", {forward("a", 1), forward("d", 1)});
  const results::NamedResults third =
      of_gpu("c.json", "NVIDIA H100", {forward("a", 1), forward("d", 1), forward("e", 1)});
  EXPECT_EQ(compare_with_first(std::vector{all, half, half}).size(), 2U);
  EXPECT_EQ(compare_with_first(std::vector{all, third, half}).size(), 1U);
  EXPECT_EQ(compare_with_first(std::vector{all, third}).size(), 1U) << "two files alone need one";
}

TEST(CollectionSummary, WithoutStepsHasNoHeadline) {
  results::NamedResults cpu = of_gpu("cpu.json", "", {forward("sdpa", 0.01)});
  cpu.file.environment = support::cpu_environment();
  Record attention = support::timed_record({"Attention", {{"impl", "flash"}}}, Seconds{0.01});
  const results::NamedResults other = of_gpu("b.json", "NVIDIA H100", {attention});
  EXPECT_THAT(texts_of(collection_part(std::vector{cpu, other, other}, {}).value()),
              ElementsAre("2 files have too few cases in common with cpu.json to be compared with it."));
}

}  // namespace
}  // namespace tbench::html
