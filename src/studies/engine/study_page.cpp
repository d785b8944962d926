#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/render/wrap.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

// These structures are only written, never read. json_fields.hpp finds the functions by argument-dependent lookup.
struct WrittenCell {
  const StudyCell* cell;
  const std::vector<std::string>* commands;
};
static void fields(results::FieldWriter& out, const WrittenCell& written) {
  const StudyCell& cell = *written.cell;
  out.field("text", cell.text);
  out.field("value", cell.value);
  if (!cell.full.empty()) out.field("full", cell.full);
  if (cell.footnote > 0) out.field("measured_by", written.commands->at(cell.footnote - 1));
}

struct WrittenSection {
  const StudySection* section;
  const std::vector<std::string>* commands;
};
static void fields(results::FieldWriter& out, const WrittenSection& written) {
  const StudySection& section = *written.section;
  std::vector<std::string> headers;
  for (const render::Column& column : section.columns) headers.push_back(column.header);
  std::vector<std::vector<WrittenCell>> rows;
  for (const auto& row : section.rows) {
    std::vector<WrittenCell>& cells = rows.emplace_back();
    for (const StudyCell& cell : row) cells.push_back({&cell, written.commands});
  }
  if (!section.heading.empty()) out.field("chapter", section.heading);
  if (!section.sentences.empty()) out.field("sentences", section.sentences);
  out.field("caption", section.caption);
  out.field("columns", headers);
  out.field("rows", rows);
}

static void fields(results::FieldWriter& out, const StudyReport& report) {
  std::vector<WrittenSection> sections;
  for (const StudySection& section : report.sections) sections.push_back({&section, &report.commands});
  out.field("title", report.title);
  out.field("sources", report.sources);
  if (!report.answers.empty()) out.field("answers", report.answers);
  out.field("tables", sections);
  out.field("notes", report.notes);
  out.field("commands", report.commands);
}

/// Returns the conclusion: COMPLETE, or INCOMPLETE if some cells were not measured.
static results::Conclusion study_conclusion(const StudyReport& report) {
  std::size_t missing = 0;
  for (const StudySection& section : report.sections) {
    for (const auto& row : section.rows) {
      missing +=
          static_cast<std::size_t>(std::ranges::count_if(row, [](const StudyCell& c) { return c.footnote > 0; }));
    }
  }
  const bool is_complete = report.commands.empty();
  std::vector<std::string> why;
  if (is_complete) why.emplace_back("every cell is measured");
  if (missing > 0) why.push_back(fmt::format("{} cell{} not measured", missing, missing == 1 ? " is" : "s are"));
  why.insert(why.end(), report.notes.begin(), report.notes.end());
  return {
      .outcome = is_complete ? "COMPLETE" : "INCOMPLETE", .why = std::move(why), .next = join(report.commands, " && ")};
}

/// Returns the JSON with conclusion, title, sources, tables (caption, columns, rows of cells), notes and commands. A
/// cell has its `text` as in tables, the `value` of a number with all its digits, and `measured_by`, the command that
/// measures a missing cell.
static std::string study_json(const StudyReport& report) {
  return results::pretty(results::concluded("study", study_conclusion(report), results::to_object(report, "study")));
}

namespace {

using Texts = std::vector<std::string>;

/// Returns each text on a line of its own, wrapped if there is a width. Further lines of a text are indented.
std::string paragraphs(std::span<const std::string> texts, std::optional<std::size_t> max_width) {
  constexpr std::size_t kIndent = 2;
  Texts lines;
  for (const std::string& text : texts) {
    if (max_width) {
      render::add_wrapped(lines, "", text, kIndent, *max_width);
    } else {
      lines.push_back(text);
    }
  }
  return lines.empty() ? "" : join(lines, "\n") + "\n";
}

std::string text_page(const StudyReport& report, std::optional<std::size_t> max_width) {
  std::string page = paragraphs(report.answers, max_width);
  page += paragraphs({&report.title, 1}, max_width) + paragraphs(report.sources, max_width);
  for (const StudySection& section : report.sections) {
    if (!section.heading.empty()) page += fmt::format("\n{}\n{:=<{}}\n", section.heading, "", section.heading.size());
    if (!section.sentences.empty()) page += "\n" + paragraphs(section.sentences, max_width);
    page += "\n" + paragraphs({&section.caption, 1}, max_width) + section.table().console(max_width);
  }
  if (!report.notes.empty()) page += "\n" + paragraphs(report.notes, max_width);
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    const std::string mark = render::footnote_mark(i + 1) + " ";
    page += max_width ? render::command_lines(mark, report.commands[i], mark.size(), *max_width)
                      : mark + report.commands[i] + "\n";
  }
  return page;
}

std::string markdown_page(const StudyReport& report) {
  std::string page;
  for (const std::string& answer : report.answers) page += render::escape_markdown(answer) + "\n\n";
  page += fmt::format("**{}**\n\n", render::escape_markdown(report.title));
  for (const std::string& source : report.sources) page += render::escape_markdown(source) + "\n";
  for (const StudySection& section : report.sections) {
    if (!section.heading.empty()) page += fmt::format("\n## {}\n", render::escape_markdown(section.heading));
    for (const std::string& sentence : section.sentences) {
      page += fmt::format("\n{}\n", render::escape_markdown(sentence));
    }
    page += fmt::format("\n{}\n\n{}", render::escape_markdown(section.caption), section.table().markdown());
    for (const StudyPicture& picture : section.pictures) {
      page += fmt::format("\n![{}]({})\n", render::escape_markdown(picture.title), picture.path);
    }
  }
  for (const std::string& note : report.notes) {
    const bool would_be_a_list = note.starts_with('*') || note.starts_with('+');
    page += fmt::format("\n{}{}\n", would_be_a_list ? "\\" : "", render::escape_markdown(note));
  }
  if (!report.commands.empty()) page += fmt::format("\n{}\n```\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("# {}\n{}\n", render::footnote_mark(i + 1), report.commands[i]);
  }
  if (!report.commands.empty()) page += "```\n";
  return page;
}

/// Returns the commands that measure the missing cells of a row.
std::string commands_of(const std::vector<StudyCell>& row, const StudyReport& report) {
  std::set<std::size_t> footnotes;
  for (const StudyCell& cell : row) {
    if (cell.footnote > 0) footnotes.insert(cell.footnote);
  }
  Texts commands;
  for (const std::size_t footnote : footnotes) commands.push_back(report.commands.at(footnote - 1));
  return join(commands, "; ");
}

std::string csv_page(const StudyReport& report) {
  std::string page;
  for (const StudySection& section : report.sections) {
    std::vector<render::Column> columns = section.columns;
    columns.push_back({.header = "not measured; this does"});
    render::Table table{std::move(columns)};
    for (std::vector<StudyCell> row : section.rows) {
      row.push_back({.text = commands_of(row, report)});
      table.add_row_of(std::move(row));
    }
    if (!page.empty()) page += "\n";
    page += table.csv();
  }
  return page;
}

std::string latex_page(const StudyReport& report) {
  std::string page = fmt::format("% {}; needs \\usepackage{{longtable}}\n", render::one_line(report.title));
  for (const std::string& source : report.sources) page += fmt::format("% {}\n", render::one_line(source));
  for (const StudySection& section : report.sections) {
    if (!section.heading.empty()) page += fmt::format("\n\\section*{{{}}}\n", render::escape_latex(section.heading));
    for (const std::string& sentence : section.sentences) {
      page += fmt::format("\n{}\n", render::escape_latex(sentence));
    }
    page += section.table().latex(section.caption);
  }
  for (const std::string& note : report.notes) page += fmt::format("\n{}\n", render::escape_latex(note));
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page +=
        fmt::format("\n{} \\texttt{{{}}}\n", render::footnote_mark(i + 1), render::escape_latex(report.commands[i]));
  }
  return page;
}

}  // namespace

std::string study_page(const StudyReport& report, StudyFormat format, std::optional<std::size_t> max_width) {
  switch (format) {
    case StudyFormat::kText:
      return text_page(report, max_width);
    case StudyFormat::kMarkdown:
      return markdown_page(report);
    case StudyFormat::kCsv:
      return csv_page(report);
    case StudyFormat::kLatex:
      return latex_page(report);
    case StudyFormat::kJson:
      return study_json(report);
  }
  throw std::logic_error{"study_page: no such format"};
}

}  // namespace tbench::studies
