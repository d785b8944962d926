#include "tbench/report/study_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StudyReport report() {
  return {.title = "mine: A study",
          .sources = {"a_1.json: GPU H200"},
          .sections = {{.caption = "Caption & more",
                        .columns = {{"size", Align::kLeft}, {"ms", Align::kRight}, {"r²", Align::kRight}},
                        .rows = {{{"small", 0}, {"1.5*", 0}, {"0.99", 0}},
                                 {{"a<b|c", 0}, {"", 2}, {"", 0}},
                                 {{"x_y", 0}, {"OOM", 0}, {"", 0}}}}},
          .notes = {"* unstable"},
          .commands = {"bench --all", "bench --filter='a|b'"}};
}

TEST(StudyPage, TextHasFootnotesBelow) {
  EXPECT_EQ(study_page(report(), StudyFormat::kText),
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
  EXPECT_EQ(study_page(report(), StudyFormat::kMarkdown),
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
  StudyReport two = report();
  two.sections.push_back(two.sections.front());
  two.sections.back().rows.resize(1);
  EXPECT_EQ(study_page(two, StudyFormat::kCsv),
            "size,ms,r²,not measured; this does\n"
            "small,1.5*,0.99,\n"
            "a<b|c,,,bench --filter='a|b'\n"
            "x_y,OOM,,\n"
            "\n"
            "size,ms,r²,not measured; this does\n"
            "small,1.5*,0.99,\n");
}

TEST(StudyPage, LatexEscapesAndAligns) {
  EXPECT_EQ(study_page(report(), StudyFormat::kLatex),
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

TEST(StudyPage, HtmlIsAPageOfItsOwnWithoutScripts) {
  const std::string page = study_page(report(), StudyFormat::kHtml);
  EXPECT_THAT(page, ::testing::StartsWith("<!doctype html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, HasSubstr("<caption>Caption &amp; more</caption>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\" class=\"number\">ms</th>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">a&lt;b|c</th><td class=\"number\">— <a href=\"#how-2\""));
  EXPECT_THAT(page, HasSubstr("<li id=\"how-2\"><code>bench --filter='a|b'</code></li>"));
  EXPECT_THAT(page, Not(HasSubstr("a<b")));
}

TEST(StudyPage, NothingMissingHasNoListOfCommands) {
  StudyReport whole = report();
  whole.commands.clear();
  whole.sections.front().rows.erase(whole.sections.front().rows.begin() + 1);
  for (const StudyFormat format :
       {StudyFormat::kText, StudyFormat::kMarkdown, StudyFormat::kLatex, StudyFormat::kHtml}) {
    EXPECT_THAT(study_page(whole, format), Not(HasSubstr("Not measured")));
  }
}

}  // namespace
}  // namespace tbench::report
