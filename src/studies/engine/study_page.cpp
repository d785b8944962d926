#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/render/wrap.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

// The following structures are only written, never read. json_fields.hpp finds the functions by argument-dependent
// lookup.
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
  if (missing > 0) why.push_back(counted(missing, "cell is not measured", "cells are not measured"));
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

/// Returns whether a cell refers to one of the commands.
bool has_footnotes(const StudyReport& report) {
  const auto refers = [](const StudyCell& cell) { return cell.footnote > 0; };
  return std::ranges::any_of(report.sections, [&](const StudySection& section) {
    return std::ranges::any_of(section.rows, [&](const auto& row) { return std::ranges::any_of(row, refers); });
  });
}

/// Returns a mark per command: its footnote between `before` and `after`, or an empty text if no cell refers to any.
Texts command_marks(const StudyReport& report, std::string_view before, std::string_view after) {
  const bool has_marks = has_footnotes(report);
  Texts marks;
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    marks.push_back(has_marks ? fmt::format("{}{}{}", before, render::footnote_mark(i + 1), after) : "");
  }
  return marks;
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
  const Texts marks = command_marks(report, "", " ");
  for (std::size_t i = 0; i < marks.size(); ++i) {
    page += max_width ? render::command_lines(marks[i], report.commands[i], marks[i].size(), *max_width)
                      : marks[i] + report.commands[i] + "\n";
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
  const Texts marks = command_marks(report, "# ", "\n");
  for (std::size_t i = 0; i < marks.size(); ++i) page += marks[i] + report.commands[i] + "\n";
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

/// Returns whether the section's last column has marks.
bool has_marks(const StudySection& section) {
  return !section.columns.empty() && section.columns.back().header == render::kMarksHeader;
}

/// Returns the columns of a section in CSV: the table's name, all keys of its cases, its quantities, and the marks.
std::vector<render::Column> csv_columns(const StudySection& section) {
  std::vector<render::Column> columns;
  if (!section.name.empty()) columns.push_back({.header = "table"});
  std::size_t in_rows = 0;
  for (const StudyKey& key : section.keys) {
    columns.push_back({.header = key.key});
    in_rows += key.shared ? 0 : 1;
  }
  columns.insert(columns.end(), section.columns.begin() + static_cast<std::ptrdiff_t>(in_rows), section.columns.end());
  if (section.may_have_marks && !has_marks(section)) columns.push_back({.header = render::kMarksHeader});
  return columns;
}

/// Returns a row's cells, one per column of csv_columns().
std::vector<StudyCell> csv_row(const StudySection& section, const std::vector<StudyCell>& row) {
  std::vector<StudyCell> cells;
  if (!section.name.empty()) cells.push_back({.text = section.name});
  auto next = row.begin();
  for (const StudyKey& key : section.keys) cells.push_back(key.shared ? StudyCell{.text = *key.shared} : *next++);
  cells.insert(cells.end(), next, row.end());
  if (section.may_have_marks && !has_marks(section)) cells.emplace_back();
  return cells;
}

std::string csv_page(const StudyReport& report) {
  const bool has_commands = has_footnotes(report);
  std::string page;
  for (const StudySection& section : report.sections) {
    std::vector<render::Column> columns = csv_columns(section);
    if (has_commands) columns.push_back({.header = "measured_by"});
    render::Table table{std::move(columns)};
    for (const std::vector<StudyCell>& row : section.rows) {
      std::vector<StudyCell> cells = csv_row(section, row);
      if (has_commands) cells.push_back({.text = commands_of(row, report)});
      table.add_row_of(std::move(cells));
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
  const Texts marks = command_marks(report, "", " ");
  for (std::size_t i = 0; i < marks.size(); ++i) {
    page += fmt::format("\n{}\\texttt{{{}}}\n", marks[i], render::escape_latex(report.commands[i]));
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
