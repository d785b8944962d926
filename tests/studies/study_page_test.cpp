#include "tbench/studies/study_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_study.hpp"
#include "support/study_samples.hpp"

namespace tbench::studies {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StudyPage, TextHasFootnotesBelow) {
  EXPECT_EQ(study_page(support::study_report_sample(), StudyFormat::kText),
            "mine: A study\n"
            "a_1.json: GPU H200\n"
            "\n"
            "Caption & more\n"
            "size      ms    r²\n"
            "------------------\n"
            "small   1.5*  0.99\n"
            "a<b|c  — [2]\n"
            "x_y      OOM\n"
            "\n"
            "* unstable\n"
            "\n"
            "Not measured; this does:\n"
            "[1] bench --all\n"
            "[2] bench --filter='a|b'\n");
}

TEST(StudyPage, MarkdownIsATableThatRendersAsOne) {
  EXPECT_EQ(study_page(support::study_report_sample(), StudyFormat::kMarkdown),
            "**mine: A study**\n"
            "\n"
            "a_1.json: GPU H200\n"
            "\n"
            "Caption & more\n"
            "\n"
            "| size | ms | r² |\n"
            "| --- | ---: | ---: |\n"
            "| small | 1.5* | 0.99 |\n"
            "| a\\<b\\|c | — [2] |  |\n"
            "| x_y | OOM |  |\n"
            "\n"
            "\\* unstable\n"
            "\n"
            "Not measured; this does:\n"
            "```\n"
            "# [1]\n"
            "bench --all\n"
            "# [2]\n"
            "bench --filter='a|b'\n"
            "```\n");
}

TEST(StudyPage, CsvIsTheTableAloneWithTheCommandInItsRow) {
  StudyReport two = support::study_report_sample();
  two.sections.push_back(two.sections.front());
  two.sections.back().rows.resize(1);
  EXPECT_EQ(study_page(two, StudyFormat::kCsv),
            "size,ms,r²,measured_by\n"
            "small,1.5*,0.99,\n"
            "a<b|c,,,bench --filter='a|b'\n"
            "x_y,OOM,,\n"
            "\n"
            "size,ms,r²,measured_by\n"
            "small,1.5*,0.99,\n");
}

/// A filter moves keys from the columns to the caption, but not in CSV.
TEST(StudyPage, CsvHasNameKeysAndMarksWhateverTheFilter) {
  const Study study = study_of(spread_over({}));
  const auto csv_of = [&](const char* filter) {
    return study_page(report_of(study, {results_of(all_records())}, {.axes = {}, .filter = filter}), StudyFormat::kCsv);
  };
  EXPECT_THAT(csv_of(""), HasSubstr("table,size,ctx,batch,precision,ms,marks\nmine,small,128,4,fp32,8,\n"));
  EXPECT_EQ(csv_of("small/ctx:128.*fp32"), "table,size,ctx,batch,precision,ms,marks\nmine,small,128,4,fp32,8,\n");
}

TEST(StudyPage, CommandsHaveMarksOnlyIfCellsReferToThem) {
  StudyReport summed = support::study_report_sample();
  for (auto& row : summed.sections.front().rows) {
    for (StudyCell& cell : row) cell.footnote = 0;
  }
  summed.commands.resize(1);
  EXPECT_THAT(study_page(summed, StudyFormat::kMarkdown), HasSubstr("this does:\n```\nbench --all\n```\n"));
  EXPECT_THAT(study_page(summed, StudyFormat::kText), HasSubstr("this does:\nbench --all\n"));
  EXPECT_THAT(study_page(summed, StudyFormat::kLatex), HasSubstr("\n\\texttt{bench --all}\n"));
  EXPECT_THAT(study_page(summed, StudyFormat::kCsv), Not(HasSubstr("measured_by")));
}

TEST(StudyPage, LatexEscapesAndAligns) {
  EXPECT_EQ(study_page(support::study_report_sample(), StudyFormat::kLatex),
            "% mine: A study; needs \\usepackage{longtable}\n"
            "% a_1.json: GPU H200\n"
            "\\begin{longtable}{lrr}\n"
            "\\caption{Caption \\& more} \\\\\n"
            "\\hline\n"
            "size & ms & $r^2$ \\\\\n"
            "\\hline\n"
            "\\endhead\n"
            "small & 1.5* & 0.99 \\\\\n"
            "a<b|c & --- {[2]} &  \\\\\n"
            "x\\_y & OOM &  \\\\\n"
            "\\hline\n"
            "\\end{longtable}\n"
            "\n"
            "* unstable\n"
            "\n"
            "Not measured; this does:\n"
            "\n"
            "[1] \\texttt{bench --all}\n"
            "\n"
            "[2] \\texttt{bench --filter='a|b'}\n");
}

TEST(StudyPage, NothingMissingHasNoListOfCommands) {
  StudyReport whole = support::study_report_sample();
  whole.commands.clear();
  whole.sections.front().rows.erase(whole.sections.front().rows.begin() + 1);
  for (const StudyFormat format : {StudyFormat::kText, StudyFormat::kMarkdown, StudyFormat::kLatex}) {
    EXPECT_THAT(study_page(whole, format), Not(HasSubstr("Not measured")));
  }
}

}  // namespace
}  // namespace tbench::studies
