#include "tbench/studies/writeup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel_study_samples.hpp"
#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string error_of(const std::string& names) {
  try {
    static_cast<void>(find_writeup(names, "--study"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

const StudyOptions kSmall{
    .axes = {{"Model", {"size", {"small"}}}, {"Model", {"ctx", {"512"}}}, {"Model", {"precision", {"bf16"}}}},
    .filter = {}};

std::vector<std::string> headings(const StudyReport& report) {
  std::vector<std::string> found;
  for (const StudySection& section : report.sections) {
    if (!section.heading.empty()) found.push_back(section.heading);
  }
  return found;
}

TEST(Restricted, KeepsTheValuesAndLeavesOutEmptyGrids) {
  const Study study{
      .name = "s",
      .title = "t",
      .grids = {{"A", {{"k", {"1", "2", "3"}}, {"l", {"x"}}}}, {"A", {{"k", {"2"}}}}, {"B", {{"k", {"2"}}}}},
      .protocol = {},
      .tables = {}};
  const Study kept = restricted(study, std::vector{parse_axis_override("A.k=3,1")});
  ASSERT_EQ(kept.grids.size(), 2U);
  EXPECT_THAT(kept.grids[0].axes[0].values, ElementsAre("1", "3"));
  EXPECT_THAT(kept.grids[0].axes[1].values, ElementsAre("x"));
  EXPECT_EQ(kept.grids[1].family, "B");
  const std::vector nothing{parse_axis_override("A.k=9"), parse_axis_override("B.k=9")};
  EXPECT_THROW(static_cast<void>(restricted(study, nothing)), std::invalid_argument);
}

TEST(Writeup, IsAListOfStudiesOrOfChapters) {
  const Writeup two = find_writeup("memory,scaling,memory", "--study");
  EXPECT_EQ(two.name, "memory,scaling");
  ASSERT_EQ(two.studies().size(), 2U);
  EXPECT_EQ(two.studies()[1].get().name, "scaling");
  const Writeup built_in = find_writeup("writeup", "--study");
  EXPECT_GT(built_in.chapters.size(), 5U);
  for (const Study& study : built_in.studies()) EXPECT_EQ(study.measured_by, "writeup") << study.name;
  EXPECT_THAT(known_study_names(), Contains("writeup"));
}

/// The edition of 2026 has 10B, which does not fit in training, and no longer our xl.
TEST(Writeup, Of2026HasItsSizes) {
  const Writeup writeup = find_writeup("writeup_2026", "--study");
  EXPECT_TRUE(writeup.sums_up_missing);
  bool has_largest = false;
  for (const Study& study : writeup.studies()) {
    EXPECT_EQ(study.measured_by, "writeup_2026") << study.name;
    for (const FamilyGrid& grid : study.grids) {
      for (const CaseId& id : cells_of(std::vector{grid}, {})) {
        const std::string* const size = id.find("size");
        if (size == nullptr) continue;
        EXPECT_NE(*size, "xl") << study.name;
        if (*size != "10B") continue;
        has_largest = true;
        EXPECT_EQ(id.at("pass"), "forward") << study.name;
      }
    }
  }
  EXPECT_TRUE(has_largest);
}

/// A run takes the protocol of a case from each study that has it.
TEST(Writeup, HasOneProtocolForEachFamily) {
  const Writeup of_2025 = find_writeup("writeup", "--study");
  const Writeup of_2026 = find_writeup("writeup_2026", "--study");
  std::vector<std::reference_wrapper<const Study>> all = of_2025.studies();
  for (const Study& study : of_2026.studies()) all.emplace_back(study);
  for (const Study& study : all) {
    for (const FamilyGrid& grid : study.grids) {
      if (grid.family == "Model") {
        EXPECT_EQ(study.protocol.warm_up, 5) << study.name;
        EXPECT_EQ(study.protocol.samples, 10) << study.name;
        EXPECT_TRUE(study.protocol.verify_once) << study.name;
      } else if (grid.family == "Attention") {
        EXPECT_EQ(study.protocol.samples, 30) << study.name;
      } else if (grid.family == "Accumulation") {
        EXPECT_EQ(study.protocol.samples, 3) << study.name;
        EXPECT_TRUE(study.protocol.without_trace) << study.name;
      } else {
        EXPECT_FALSE(study.protocol.samples) << study.name;
      }
    }
  }
}

TEST(Writeup, RefusesUnknownAndMissingNames) {
  EXPECT_EQ(error_of("memory,scalling"), "--study=scalling: no such study; did you mean 'scaling'?");
  EXPECT_THAT(error_of("memory,,scaling"), HasSubstr("--study=memory,,scaling: a name is missing."));
  EXPECT_THAT(error_of(""), HasSubstr("a name is missing"));
  EXPECT_THAT(error_of("writeups"), HasSubstr("did you mean 'writeup'?"));
}

TEST(WriteupReport, OfOneStudyIsThatStudysReport) {
  const std::vector files{support::gpu_results({inferred(), trained()})};
  const StudyReport one = writeup_report(find_writeup("top_kernels", "--study"), files, kSmall);
  const StudyReport same = study_report(find_study("top_kernels", "--study"), files, kSmall);
  EXPECT_EQ(study_page(one, StudyFormat::kJson), study_page(same, StudyFormat::kJson));
}

TEST(WriteupReport, NumbersTheCommandsOfAllStudies) {
  const std::vector files{support::gpu_results({trained()})};
  const StudyReport report = writeup_report(find_writeup("memory,gemm_share", "--study"), files, kSmall);
  EXPECT_THAT(headings(report), ElementsAre("Peak memory of a step, and what holds it",
                                            "The share of matrix products in inference and in training"));
  ASSERT_EQ(report.commands.size(), 2U);
  EXPECT_THAT(report.commands[0], HasSubstr("--tb_study=memory "));
  EXPECT_THAT(report.commands[1], HasSubstr("--tb_study=gemm_share "));
  const auto has_footnote = [](const StudySection& section, std::size_t footnote) {
    return std::ranges::any_of(section.rows, [&](const auto& row) {
      return std::ranges::any_of(row, [&](const StudyCell& cell) { return cell.footnote == footnote; });
    });
  };
  EXPECT_TRUE(has_footnote(report.sections.front(), 1));
  EXPECT_TRUE(has_footnote(report.sections.back(), 2));
  EXPECT_THAT(study_page(report, StudyFormat::kMarkdown), HasSubstr("\n## Peak memory of a step"));
  EXPECT_THAT(study_page(report, StudyFormat::kText), HasSubstr("\nPeak memory of a step, and what holds it\n====="));
  EXPECT_THAT(study_page(report, StudyFormat::kLatex), HasSubstr("\\section*{Peak memory of a step"));
}

TEST(WriteupReport, SumsUpWhatWasNotMeasured) {
  const std::vector files{support::gpu_results({inferred(), trained()})};
  const StudyReport report = writeup_report(find_writeup("writeup", "--study"), files, {});
  EXPECT_THAT(report.commands,
              ElementsAre("./transformer_bench --tb_study=writeup --tb_resume --benchmark_out='writeup.json.gz'"));
  EXPECT_THAT(report.notes, Contains(AllOf(HasSubstr("Not measured: "), HasSubstr("Warmup (16 cases)"),
                                           HasSubstr("impl:sdpa,fused (8 cases)"))));
  EXPECT_THAT(report.notes, Contains(HasSubstr("Not shown, because no record has it: ")));
  EXPECT_THAT(study_page(report, StudyFormat::kJson),
              AllOf(HasSubstr("\"outcome\": \"INCOMPLETE\""), Not(HasSubstr("0 cells are not measured"))));
  for (const StudySection& section : report.sections) {
    for (const auto& row : section.rows) {
      for (const StudyCell& cell : row) EXPECT_EQ(cell.footnote, 0U) << section.caption;
    }
  }
}

TEST(WriteupReport, LeavesOutTablesWithoutAMeasurement) {
  const std::vector files{support::gpu_results({inferred(), trained()})};
  const StudyReport report = writeup_report(find_writeup("writeup", "--study"), files, {});
  EXPECT_THAT(headings(report), Not(Contains("Warm-up")));
  EXPECT_THAT(headings(report), Contains("Profile: kernels"));
  for (const StudySection& section : report.sections) EXPECT_FALSE(section.is_unmeasured) << section.caption;
  EXPECT_THAT(headings(writeup_report(find_writeup("memory,warmup", "--study"), files, kSmall)),
              Contains("Mean and spread of the first steps of a process by warm-up steps"));
}

TEST(WriteupReport, ExplainsMarksInTheChapterThatHasThem) {
  Record limited = trained();
  limited.device.emplace();
  const std::vector files{support::gpu_results({inferred(), limited})};
  const StudyReport report = writeup_report(find_writeup("writeup", "--study"), files, {});
  const auto section = std::ranges::find(report.sections, "Time and throughput of a step", &StudySection::heading);
  ASSERT_NE(section, report.sections.end());
  EXPECT_THAT(section->sentences, Contains(AllOf(HasSubstr("Marks: "), HasSubstr("h limited by the host."))));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("limited by the host"))));
}

TEST(Writeup, BeginsTheProfileWithTheAnswers) {
  for (const char* const name : {"writeup", "writeup_2026"}) {
    const Writeup writeup = find_writeup(name, "--study");
    const auto profile = std::ranges::find(writeup.chapters, "Profile", &Chapter::title);
    ASSERT_NE(profile, writeup.chapters.end());
    EXPECT_EQ(profile->studies.front().name, "answers");
    EXPECT_EQ(std::ranges::count_if(writeup.chapters, [](const Chapter& c) { return c.title.starts_with("Profile"); }),
              6);
  }
}

TEST(Writeup, NamesTheChapterOfAnUnknownStudy) {
  const auto error_of = [](const char* name) {
    try {
      static_cast<void>(find_writeup(name, "--study"));
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(error_of("attention"),
            "--study=attention: a chapter of writeup, not a study (studies: attention_grid, tf32)");
  EXPECT_EQ(error_of("Profile"),
            "--study=Profile: a chapter of writeup, not a study (studies: answers, profiler_overhead)");
  EXPECT_EQ(error_of("optimizer"), "--study=optimizer: no such study; did you mean 'phases'?");
  EXPECT_EQ(error_of("warm-up"), "--study=warm-up: no such study; did you mean 'warmup'?");
}

TEST(Writeup, NamesTheFamilyOfAnAxis) {
  const Writeup writeup = find_writeup("memory,attention_grid", "--study");
  const auto error_of = [&](const char* axis) {
    try {
      static_cast<void>(parse_study_axis(writeup, axis, "--axis"));
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(error_of("size=small"), "--axis=size=small: names no family; did you mean 'Model.size=small'?");
  EXPECT_EQ(error_of("seq_len:64"), "--axis=seq_len:64: names no family; did you mean 'Attention.seq_len=64'?");
  EXPECT_THAT(error_of("colour=red"), HasSubstr("no '.' between family and axis"));
  EXPECT_EQ(parse_study_axis(writeup, "Model.ctx=512", "--axis").axis.key, "ctx");
}

TEST(WriteupReport, HasItsProtocolInTheHeader) {
  std::vector files{support::gpu_results({inferred(), trained()})};
  files[0].file.options["seed"] = "7";
  files[0].file.environment.gpu->power_limit_w = 700;
  const StudyReport whole = writeup_report(find_writeup("writeup", "--study"), files, {});
  EXPECT_THAT(whole.sources, Contains("Warm-up + timed steps: Model 5 + 10, Accumulation 1 + 3, Attention 5 + 30"));
  EXPECT_THAT(whole.sources,
              Contains("Timed by CUDA events on the GPU. Model: step after step, and the host waits after "
                       "the last one"));
  EXPECT_THAT(whole.sources, Contains("Traced steps: 3 a case, apart from the timed ones"));
  EXPECT_THAT(whole.sources, Contains("seed 7, power limit 700 W"));
  files[0].file.options.erase("seed");
  files[0].file.environment.gpu->power_limit_w.reset();
  EXPECT_EQ(writeup_report(find_writeup("writeup", "--study"), files, {}).sources.size(), 4U);
  EXPECT_EQ(writeup_report(find_writeup("memory,gemm_share", "--study"), files, kSmall).sources.size(), 1U);
}

TEST(WriteupReport, SaysWhenTheHostWaitsAndHowManyStepsWereTraced) {
  Record burst = inferred(), longer = trained();
  burst.timing->regime = Regime::kBurst;
  longer.trace->steps = 10;
  std::vector files{support::gpu_results({burst, longer})};
  const Writeup writeup = find_writeup("writeup", "--study");
  const StudyReport both = writeup_report(writeup, files, {});
  EXPECT_THAT(both.sources,
              Contains("Timed by CUDA events on the GPU. Model: step after step, and the host waits after "
                       "the last one; Model: the host waits after each step, and the GPU rests"));
  EXPECT_THAT(both.sources, Contains("Traced steps: 3 to 10 a case, apart from the timed ones"));
  files[0].file.environment.gpu.reset();
  for (Record& record : files[0].file.records) record.trace.reset();
  const StudyReport on_cpu = writeup_report(writeup, files, {});
  EXPECT_THAT(on_cpu.sources, Contains(HasSubstr("Timed by a clock of the host. ")));
  EXPECT_THAT(on_cpu.sources, Not(Contains(HasSubstr("Traced steps"))));
}

TEST(WriteupReport, GivesAFilterToTheStudiesThatHaveItsCases) {
  const std::vector files{support::gpu_results({inferred(), trained()})};
  const StudyOptions attention{.axes = {}, .filter = "^Attention/"};
  const Writeup writeup = find_writeup("attention_grid,memory", "--study");
  EXPECT_EQ(headings(writeup_report(writeup, files, attention)).size(), 1U);
  EXPECT_THROW(static_cast<void>(writeup_report(writeup, files, {.axes = {}, .filter = "^Gemm/"})), UsageError);
  const StudyOptions unknown{.axes = {parse_axis_override("Gemm.m=64")}, .filter = {}};
  EXPECT_THROW(static_cast<void>(writeup_report(writeup, files, unknown)), UsageError);
}

TEST(RankedKernels, RankEachPhaseBothPhasesAndTheStep) {
  const std::vector<std::string> found = rows(report_of("ranked_kernels", {trained()}).sections[0]);
  EXPECT_THAT(
      found, Contains("train_step|backward|1|softmax_backward|12|1.000|4.000|50.0|25.0|333.3|2.000|softmax_bw<float>"));
  // Products have 6.5 of forward's and backward's 13 ms, and of the step's 16 ms.
  EXPECT_THAT(found, Contains("train_step|forward and backward|1|gemm|30|2.500|6.500|50.0|40.6|216.7||nvjet_a<bf16>"));
  EXPECT_THAT(found, Contains("train_step|step|1|gemm|30|2.500|6.500|40.6|40.6|216.7||nvjet_a<bf16>"));
  EXPECT_THAT(found, Contains("train_step|step|3|optimizer|3|0.2500|3.000|18.8|18.8|1000|2.000|adam"));
  EXPECT_THAT(found, Not(Contains(HasSubstr("Memcpy"))));
}

TEST(RankedKernels, HaveShortNames) {
  const StudyReport report = report_of("ranked_kernels", {inferred()});
  const auto& row = report.sections[0].rows.front();
  EXPECT_EQ(row.back().text, "nvjet_a");
  EXPECT_EQ(row.back().full, "nvjet_a<bf16>");
  EXPECT_THAT(study_page(report, StudyFormat::kJson), HasSubstr("\"full\": \"nvjet_a<bf16>\""));
}

TEST(RankedKernels, KeepTheNamesThatAreShort) {
  const StudyReport report = report_of("ranked_kernels", {trained()});
  const auto& rows = report.sections[0].rows;
  const auto& row = rows.at(rows.size() - 2);  // the fourth kernel of the step
  EXPECT_EQ(row.back().text, "cutlass_b");
  EXPECT_EQ(row.back().full, "");
}

TEST(Products, AreCountedPerLayer) {
  const std::vector<std::string> found = rows(report_of("products", {trained()}).sections[0]);
  // Forward has 15 kernels, one of them for the LM head; backward has 20, two of them for it. There are 12 layers.
  EXPECT_THAT(found, Contains("train_step|forward|15|12|1.167|4.000|80.0"));
  EXPECT_THAT(found, Contains("train_step|backward|20|12|1.500|3.500|43.8"));
}

TEST(ClassChanges, AreFromInferenceToTheWholeStep) {
  const StudyReport report = report_of("class_changes", {inferred(), trained()});
  // Inference: products 90 and softmax 10 %. Training, of 15.8 ms of kernels: products 7.5, softmax 0.8 and 4, the
  // optimizer 3.
  EXPECT_THAT(rows(report.sections[0]),
              ElementsAre("gemm|90.0|47.5|-42.5", "softmax_backward|0.0|25.3|+25.3", "optimizer|0.0|19.0|+19.0",
                          "softmax_forward|10.0|5.1|-4.9", "elementwise|0.0|3.2|+3.2"));
  EXPECT_THAT(rows(report_of("answers", {inferred(), trained()}).sections[0]),
              Contains(HasSubstr(": -42.5 percentage")))
      << "the same definition";
  EXPECT_THAT(rows(report_of("class_changes", {trained()}).sections[0]), ElementsAre("|none||"));
}

TEST(ClassChanges, AreASentenceForEachPrecision) {
  EXPECT_THAT(
      report_of("class_changes", {inferred(), trained()}).notes,
      Contains("From inference to the training step of small, 512 tokens, bf16, by the kernels' time: gemm 90.0 "
               "to 47.5 % (-42.5 points), softmax_backward +25.3, optimizer +19.0, softmax_forward -4.9, "
               "elementwise +3.2."));
  EXPECT_THAT(report_of("class_changes", {trained()}).notes, Not(Contains(HasSubstr("From inference"))));
  EXPECT_THAT(report_of("class_changes", {inferred()}).notes, Not(Contains(HasSubstr("From inference"))));
  Record same = inferred();
  same.id = id_of("train_step");
  EXPECT_THAT(report_of("class_changes", {inferred(), same}).notes,
              Contains(HasSubstr("bf16, by the kernels' time: no class changes by a point or more.")));
}

TEST(WriteupReport, PutsASentenceBeforeItsTable) {
  const std::vector files{support::gpu_results({inferred(), trained()})};
  const StudyReport report = writeup_report(find_writeup("memory,class_changes", "--study"), files, kSmall);
  EXPECT_THAT(report.sections.back().sentences, ElementsAre(HasSubstr("From inference to the training step of small")));
  EXPECT_THAT(study_page(report, StudyFormat::kMarkdown),
              HasSubstr("\n\nFrom inference to the training step of small"));
}

TEST(Sizes, ShowExtentsParametersAndBytesWithoutMarks) {
  Record record = inferred();
  record.id = CaseId::parse("Model/size:small/ctx:128/batch:4/pass:forward/precision:fp32/impl:eager");
  const std::vector files{support::gpu_results({record})};
  const StudyReport report = study_report(find_study("sizes", "--study"), files,
                                          {.axes = {parse_axis_override("Model.size=small")}, .filter = {}});
  EXPECT_THAT(rows(report.sections[0]), ElementsAre("768|3,072|12|12|12|64|10,000|129|491|981"));
  EXPECT_THAT(report.commands, IsEmpty());
}

}  // namespace
}  // namespace tbench::studies
