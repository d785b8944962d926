#include "tbench/studies/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "studies/engine/study_cells.hpp"
#include "studies/engine/study_section.hpp"
#include "studies/engine/study_traces.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/report_page.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_json.hpp"

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
  std::vector<std::string> why{is_complete
                                   ? std::string{"every cell is measured"}
                                   : fmt::format("{} cell{} not measured", missing, missing == 1 ? " is" : "s are")};
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

std::string protocol_of(const StudyProtocol& protocol) {
  Texts parts;
  if (protocol.warm_up) parts.push_back(fmt::format("{} warm-up steps", *protocol.warm_up));
  if (protocol.samples) parts.push_back(fmt::format("{} timed steps", *protocol.samples));
  return join(parts, ", ");
}

Texts notes_of(const Study& study, const Marks& marks) {
  Texts notes;
  if (marks.max_records > 1) {
    notes.push_back(fmt::format("Several measurements of a case: their median (at most {}).", marks.max_records));
  }
  for (const std::string& meaning : render::legend_of(marks.of_times)) notes.push_back(meaning + ".");
  if (marks.other_protocol) {
    notes.push_back(fmt::format("+ not the study's protocol of {}.", protocol_of(study.protocol)));
  }
  return notes;
}

/// Returns the program to call for the given number of ranks: with a launcher, or transformer_bench itself if `gpus` is
/// empty.
std::string program_of(const std::string& gpus) {
  if (gpus.empty()) return "transformer_bench";
  return fmt::format("torchrun --no-python --nproc-per-node={} ./transformer_bench", gpus);
}

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
  page += report.title + "\n" + paragraphs(report.sources, max_width);
  for (const StudySection& section : report.sections) {
    page += "\n" + paragraphs({&section.caption, 1}, max_width) + section.table().text(max_width);
  }
  if (!report.notes.empty()) page += "\n" + paragraphs(report.notes, max_width);
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page += fmt::format("{} {}\n", render::footnote_mark(i + 1), report.commands[i]);
  }
  return page;
}

std::string markdown_page(const StudyReport& report) {
  std::string page;
  for (const std::string& answer : report.answers) page += render::escape_markdown(answer) + "\n\n";
  page += fmt::format("**{}**\n\n", render::escape_markdown(report.title));
  for (const std::string& source : report.sources) page += render::escape_markdown(source) + "\n";
  for (const StudySection& section : report.sections) {
    page += fmt::format("\n{}\n\n{}", render::escape_markdown(section.caption), section.table().markdown());
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
  for (const StudySection& section : report.sections) page += section.table().latex(section.caption);
  for (const std::string& note : report.notes) page += fmt::format("\n{}\n", render::escape_latex(note));
  if (!report.commands.empty()) page += fmt::format("\n{}\n", kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    page +=
        fmt::format("\n{} \\texttt{{{}}}\n", render::footnote_mark(i + 1), render::escape_latex(report.commands[i]));
  }
  return page;
}

}  // namespace

std::string source_line(const results::NamedResults& result) {
  return fmt::format("{}: {}", render::one_line(result.label), render::environment_line(result.file));
}

StudyReport study_report(const Study& study, std::span<const results::NamedResults> results,
                         const StudyOptions& options) {
  const StudyCells cells = study_cells(study, results, options);
  const MissingCells missing = missing_cells(cells.unfiltered, cells.missing);
  StudyReport report;
  report.title = fmt::format("{}: {}", study.name, study.title);
  for (const results::NamedResults& result : results) {
    report.sources.push_back(source_line(result));
  }
  CaseCells contents{study, cells, missing};
  for (const StudyTable& table : study.tables) {
    if (auto section = study_section(table, contents)) report.sections.push_back(std::move(*section));
  }
  for (const StudyRowTable& table : study.row_tables) {
    if (auto section = row_section(table, contents)) report.sections.push_back(std::move(*section));
  }
  report.notes = notes_of(study, contents.marks());
  if (study.answer) report.answers = study.answer(contents.measurements());
  if (study.conclude) std::ranges::move(study.conclude(contents.measurements()), std::back_inserter(report.notes));
  if (study.protocol.needs_trace) std::ranges::move(trace_notes(cells), std::back_inserter(report.notes));
  for (std::size_t i = 0; i < missing.filters.size(); ++i) {
    const std::string& filter = missing.filters[i];
    const std::string selected = filter.empty() ? "" : " --benchmark_filter=" + results::quoted(filter);
    report.commands.push_back(render::one_line(fmt::format(
        "{} {}{} --benchmark_out={}_{}.json", program_of(missing.gpus[i]), cells.flags, selected, study.name, i + 1)));
  }
  return report;
}

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
