#include "studies/engine/study_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tbench/core/text.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::studies {

// Written only: json_fields.hpp finds them through the namespace of their arguments.
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
  out.field("tables", sections);
  out.field("notes", report.notes);
  out.field("commands", report.commands);
}

results::Conclusion study_conclusion(const StudyReport& report) {
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
      .verdict = is_complete ? "COMPLETE" : "INCOMPLETE", .why = std::move(why), .next = join(report.commands, " && ")};
}

std::string study_json(const StudyReport& report) {
  return results::pretty(results::concluded("study", study_conclusion(report), results::to_object(report, "study")));
}

}  // namespace tbench::studies
