#include "tbench/studies/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "studies/engine/study_contents.hpp"
#include "studies/engine/study_shape.hpp"
#include "studies/engine/study_traces.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/report_page.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

std::string protocol_of(const StudyProtocol& protocol) {
  Texts parts;
  if (protocol.warm_up) parts.push_back(fmt::format("{} warm-up steps", *protocol.warm_up));
  if (protocol.samples) parts.push_back(fmt::format("{} timed steps", *protocol.samples));
  return join(parts, ", ");
}

/// Returns the marks in the columns of marks.
std::string shown_marks(const std::vector<StudySection>& sections) {
  std::string marks;
  for (const StudySection& section : sections) {
    if (section.columns.back().header != render::kMarksHeader) continue;
    for (const auto& row : section.rows) {
      for (const StudyCell& cell : row) marks += cell.marks;
    }
  }
  return marks;
}

/// @param shown  as shown_marks()
Texts notes_of(const Study& study, const Marks& marks, const std::string& shown) {
  Texts notes;
  if (marks.max_records > 1) {
    notes.push_back(fmt::format("Several measurements of a case: their median (at most {}).", marks.max_records));
  }
  for (const std::string& meaning : render::legend_of(shown)) notes.push_back(meaning + ".");
  if (marks.other_protocol) {
    notes.push_back(fmt::format("+ not the study's protocol of {}.", protocol_of(study.protocol)));
  }
  return notes;
}

/// Returns the program to call for the given number of ranks: with a launcher, or transformer_bench itself if `gpus` is
/// empty.
std::string program_of(const std::string& gpus) {
  if (gpus.empty()) return "./transformer_bench";
  return fmt::format("torchrun --no-python --nproc-per-node={} ./transformer_bench", gpus);
}

}  // namespace

std::string source_line(const results::NamedResults& result) {
  return fmt::format("{}: {}", render::one_line(result.label), render::environment_line(result.file));
}

std::vector<std::string> source_lines(std::span<const results::NamedResults> results) {
  std::vector<std::string> lines;
  for (const results::NamedResults& result : results) lines.push_back(source_line(result));
  return lines;
}

UsageError no_case_matches(const std::string& names, const std::string& flags, const std::string& filter) {
  return UsageError{
      fmt::format("--filter: no case of the study {} matches '{}'; 'transformer_bench {} --benchmark_list_tests' lists "
                  "them",
                  names, filter, flags)};
}

StudyContents contents_of(const Study& study, const StudyCells& cells) {
  const MissingCells missing = missing_cells(cells.unfiltered, cells.missing);
  StudyContents contents;
  CaseCells own{study, cells, missing};
  std::size_t number = 0;  // of the table in the study, whether it is shown or not
  const bool has_several = study.tables.size() + study.row_tables.size() > 1;
  const auto add = [&](std::optional<StudySection> section) {
    ++number;
    if (!section) return;
    section->name = has_several ? fmt::format("{} {}", study.name, number) : study.name;
    contents.sections.push_back(std::move(*section));
  };
  for (const StudyTable& table : study.tables) add(study_section(table, own));
  for (const StudyRowTable& table : study.row_tables) add(row_section(table, own));
  if (study.figures && !contents.sections.empty()) {
    contents.sections.back().figures = study.figures(own.measurements());
  }
  contents.legend = notes_of(study, own.marks(), shown_marks(contents.sections));
  if (study.answer) contents.answers = study.answer(own.measurements());
  if (study.conclude) contents.conclusions = study.conclude(own.measurements());
  if (study.protocol.needs_trace) contents.trace_notes = trace_notes(cells);
  for (std::size_t i = 0; i < missing.filters.size(); ++i) {
    const std::string& filter = missing.filters[i];
    const std::string selected = filter.empty() ? "" : " --benchmark_filter=" + results::quoted(filter);
    contents.commands.push_back(
        render::one_line(fmt::format("{} {}{}{} --benchmark_out={}_{}.json", program_of(missing.gpus[i]), cells.flags,
                                     missing.packages[i], selected, study.name, i + 1)));
  }
  return contents;
}

StudyReport study_report(const Study& study, std::span<const results::NamedResults> results,
                         const StudyOptions& options) {
  const std::reference_wrapper<const Study> only{study};
  refuse_unused_shape({&only, 1}, options);
  const StudyCells cells = study_cells(study, results, options);
  if (cells.cases.empty()) throw no_case_matches(study.name, cells.flags, options.filter);
  StudyContents contents = contents_of(shaped(study, options), cells);
  StudyReport report{.title = fmt::format("{}: {}", study.name, study.title),
                     .sources = source_lines(results),
                     .answers = std::move(contents.answers),
                     .sections = std::move(contents.sections),
                     .notes = std::move(contents.legend),
                     .commands = std::move(contents.commands),
                     .has_no_case = cells.untraced == 0 && cells.missing.size() == cells.cases.size()};
  std::ranges::move(contents.conclusions, std::back_inserter(report.notes));
  std::ranges::move(contents.trace_notes, std::back_inserter(report.notes));
  return report;
}

}  // namespace tbench::studies
