#include "tbench/report/study_page.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "embedded_file.hpp"
#include "escapes.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;
constexpr const char* kNotMeasured = "Not measured; this does:";

std::string mark_of(std::size_t footnote) { return fmt::format("[{}]", footnote); }

std::string plain(const StudyCell& cell) { return cell.footnote == 0 ? cell.text : "— " + mark_of(cell.footnote); }

Table table_of(const StudySection& section) {
  Table table{section.columns};
  for (const auto& row : section.rows) {
    Texts cells;
    for (const StudyCell& cell : row) cells.push_back(plain(cell));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string text_page(const StudyReport& report, std::optional<std::size_t> max_width) {
  std::string page = report.title + "\n" + join(report.sources, "\n") + "\n";
  for (const StudySection& section : report.sections) {
    page += fmt::format("\n{}\n{}", section.caption, table_of(section).text(max_width));
  }
  if (!report.notes.empty()) page += "\n" + join(report.notes, "\n") + "\n";
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("{} {}\n", mark_of(i + 1), report.commands[i]);
  }
  return page;
}

std::string markdown_page(const StudyReport& report) {
  std::string page = fmt::format("**{}**\n\n", escape_markdown(report.title));
  for (const std::string& source : report.sources) page += escape_markdown(source) + "\n";
  for (const StudySection& section : report.sections) {
    page += fmt::format("\n{}\n\n{}", escape_markdown(section.caption), table_of(section).markdown());
  }
  for (const std::string& note : report.notes) {
    const bool would_be_a_list = note.starts_with('*') || note.starts_with('+');
    page += fmt::format("\n{}{}\n", would_be_a_list ? "\\" : "", escape_markdown(note));
  }
  if (!report.commands.empty()) page += fmt::format("\n{}\n```\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("# {}\n{}\n", mark_of(i + 1), report.commands[i]);
  }
  if (!report.commands.empty()) page += "```\n";
  return page;
}

/// The commands that measure what the row lacks.
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
    if (!page.empty()) page += "\n";
    Texts header;
    for (const Column& column : section.columns) header.push_back(column.header);
    header.emplace_back("not measured; this does");
    page += csv_row(header);
    for (const auto& row : section.rows) {
      Texts cells;
      for (const StudyCell& cell : row) cells.push_back(cell.text);
      cells.push_back(commands_of(row, report));
      page += csv_row(cells);
    }
  }
  return page;
}

std::string latex_row(const Texts& cells) { return join(cells, " & ") + " \\\\\n"; }

std::string latex_table(const StudySection& section) {
  std::string alignment;
  Texts header;
  for (const Column& column : section.columns) {
    alignment += column.align == Align::kLeft ? 'l' : 'r';
    header.push_back(column.header == "r²" ? "$r^2$" : escape_latex(column.header));
  }
  std::string table = fmt::format("\\begin{{longtable}}{{{}}}\n\\caption{{{}}} \\\\\n\\hline\n", alignment,
                                  escape_latex(section.caption));
  table += latex_row(header) + "\\hline\n\\endhead\n";
  for (const auto& row : section.rows) {
    Texts cells;
    for (const StudyCell& cell : row) {
      cells.push_back(cell.footnote == 0 ? escape_latex(cell.text) : "--- {" + mark_of(cell.footnote) + "}");
    }
    table += latex_row(cells);
  }
  return table + "\\hline\n\\end{longtable}\n";
}

std::string latex_page(const StudyReport& report) {
  std::string page = fmt::format("% {}; needs \\usepackage{{longtable}}\n", one_line(report.title));
  for (const std::string& source : report.sources) page += fmt::format("% {}\n", one_line(source));
  for (const StudySection& section : report.sections) page += latex_table(section);
  for (const std::string& note : report.notes) page += fmt::format("\n{}\n", escape_latex(note));
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("\n{} \\texttt{{{}}}\n", mark_of(i + 1), escape_latex(report.commands[i]));
  }
  return page;
}

std::string html_cell(const StudyCell& cell, Align align, bool is_row_header) {
  const char* const attribute = align == Align::kRight ? " class=\"number\"" : is_row_header ? " scope=\"row\"" : "";
  const char* const tag = is_row_header ? "th" : "td";
  const std::string content =
      cell.footnote == 0
          ? escape_markup(cell.text)
          : fmt::format("— <a href=\"#how-{0}\" aria-label=\"not measured, see command {0}\">[{0}]</a>", cell.footnote);
  return fmt::format("<{}{}>{}</{}>", tag, attribute, content, tag);
}

std::string html_table(const StudySection& section) {
  std::string table = fmt::format(
      "<section><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n"
      "<table><caption>{0}</caption>\n<thead><tr>",
      escape_markup(section.caption));
  for (const Column& column : section.columns) {
    table += fmt::format("<th scope=\"col\"{}>{}</th>", column.align == Align::kRight ? " class=\"number\"" : "",
                         escape_markup(column.header));
  }
  table += "</tr></thead>\n<tbody>\n";
  for (const auto& row : section.rows) {
    table += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Align align = section.columns[i].align;
      table += html_cell(row[i], align, i == 0 && align == Align::kLeft);
    }
    table += "</tr>\n";
  }
  return table + "</tbody></table></div></section>\n";
}

std::string html_page(const StudyReport& report) {
  const std::string title = escape_markup(report.title);
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<header><h1>transformer_bench</h1></header>\n<main>\n"
      "<h2>{0}</h2>\n",
      title, html_asset("page.css"));
  for (const std::string& source : report.sources)
    page += fmt::format("<p class=\"note\">{}</p>\n", escape_markup(source));
  for (const StudySection& section : report.sections) page += html_table(section);
  for (const std::string& note : report.notes) page += fmt::format("<p class=\"note\">{}</p>\n", escape_markup(note));
  if (!report.commands.empty()) page += fmt::format("<section><h2>{}</h2>\n<ol>\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("<li id=\"how-{}\"><code>{}</code></li>\n", i + 1, escape_markup(report.commands[i]));
  }
  if (!report.commands.empty()) page += "</ol></section>\n";
  return page + "</main>\n</body>\n</html>\n";
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
    case StudyFormat::kHtml:
      return html_page(report);
  }
  throw std::logic_error{"study_page: no such format"};
}

}  // namespace tbench::report
