#include "tbench/studies/writeup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "studies/engine/study_contents.hpp"
#include "studies/engine/study_shape.hpp"
#include "studies/writeup/chapters.hpp"
#include "studies/writeup/protocol.hpp"
#include "studies/writeup/study_axes.hpp"
#include "studies/writeup/study_names.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

/// Adds the texts that `all` does not have.
void append_new(Texts& all, Texts more) {
  for (std::string& text : more) {
    if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  }
}

/// Returns the built-in write-up, or null if none has this name.
const BuiltInWriteup* built_in_named(std::string_view name) {
  const auto all = built_in_writeups();
  const auto found = std::ranges::find(all, name, &BuiltInWriteup::name);
  return found == all.end() ? nullptr : &*found;
}

/// Returns the chapters that a name stands for: all chapters of a built-in write-up, or the study as a chapter of its
/// own.
std::vector<Chapter> chapters_of(const std::string& name, std::string_view names, std::string_view flag) {
  if (const BuiltInWriteup* const built_in = built_in_named(name)) return built_in->chapters();
  const auto study = std::ranges::find(all_studies(), name, &Study::name);
  if (study != all_studies().end()) return {{.title = study->title, .studies = {*study}}};
  if (name.empty()) {
    throw UsageError{
        fmt::format("{}={}: a name is missing. Separate names by single commas, as in memory,flash.", flag, names)};
  }
  throw unknown_study(name, flag);
}

/// The cases of several studies, each once.
struct Cases {
  std::vector<CaseId> all;      // that the filter selects
  std::vector<CaseId> missing;  // the subset without a measurement
  std::size_t untraced{};       // StudyCells::untraced of all studies

  void add(const StudyCells& cells) {
    untraced += cells.untraced;
    for (const CaseId& id : cells.cases) {
      if (names_.insert(id.name()).second) all.push_back(id);
    }
    for (const CaseId& id : cells.missing) {
      if (missing_names_.insert(id.name()).second) missing.push_back(id);
    }
  }

 private:
  std::set<std::string> names_;
  std::set<std::string> missing_names_;
};

/// Returns whether a section of the report has the sentence: two parts of one study may say the same.
bool is_said(const StudyReport& report, const std::string& sentence) {
  return std::ranges::any_of(report.sections, [&](const StudySection& section) {
    return std::ranges::find(section.sentences, sentence) != section.sentences.end();
  });
}

/// A chapter of the report to which studies are added.
struct OpenChapter {
  std::string heading;  // until the first table has it
  Texts explained{};    // the marks whose meaning the chapter has
};

/// Returns the sentence with the meanings of the marks that the chapter does not have yet; empty if it has all.
std::string marks_sentence(OpenChapter& chapter, const Texts& legend) {
  Texts texts;
  for (const std::string& meaning : legend) {
    if (std::ranges::find(chapter.explained, meaning) == chapter.explained.end()) texts.push_back(meaning);
  }
  append_new(chapter.explained, texts);
  return texts.empty() ? "" : "Marks: " + join(texts, " ");
}

/// Adds a study's tables and texts to the report. The meanings of its marks precede its tables.
void append(StudyReport& report, StudyContents contents, OpenChapter& chapter) {
  if (contents.sections.empty()) return;
  const std::size_t earlier = report.commands.size();
  for (StudySection& section : contents.sections) {
    for (auto& row : section.rows) {
      for (StudyCell& cell : row) cell.footnote += cell.footnote > 0 ? earlier : 0;
    }
  }
  StudySection& first = contents.sections.front();
  first.heading = std::exchange(chapter.heading, "");
  for (Texts* texts : {&contents.answers, &contents.conclusions}) {
    std::erase_if(*texts, [&](const std::string& text) { return is_said(report, text); });
    append_new(first.sentences, std::move(*texts));
  }
  if (std::string marks = marks_sentence(chapter, contents.legend); !marks.empty()) {
    first.sentences.push_back(std::move(marks));
  }
  std::ranges::move(contents.sections, std::back_inserter(report.sections));
  std::ranges::move(contents.commands, std::back_inserter(report.commands));
  append_new(report.notes, std::move(contents.trace_notes));
}

/// Empties the cells without a measurement. A note names their cases, and the only command measures all of them.
/// @param missing  descriptions of these cases
void sum_up(StudyReport& report, const Texts& missing, const std::string& command) {
  for (StudySection& section : report.sections) {
    for (auto& row : section.rows) {
      for (StudyCell& cell : row) cell.footnote = 0;
    }
  }
  report.commands.clear();
  if (missing.empty()) return;
  report.notes.push_back(fmt::format("Not measured: {}.", join(missing, "; ")));
  report.commands.push_back(command);
}

/// Returns the file that the write-up's run continues: the first one that such a run made, or else a new one.
std::string file_to_resume(const std::string& name, std::span<const results::NamedResults> results) {
  const auto made = std::ranges::find_if(results, [&](const results::NamedResults& result) {
    const auto study = result.file.options.find("study");
    return study != result.file.options.end() && study->second == name;
  });
  return made == results.end() ? name + ".json.gz" : made->label;
}

}  // namespace

std::vector<std::reference_wrapper<const Study>> Writeup::studies() const& {
  std::vector<std::reference_wrapper<const Study>> all;
  for (const Chapter& chapter : chapters) {
    for (const Study& study : chapter.studies) all.emplace_back(study);
  }
  return all;
}

std::vector<std::string> known_study_names() {
  Texts names = study_names();
  for (const BuiltInWriteup& built_in : built_in_writeups()) names.emplace_back(built_in.name);
  return names;
}

Writeup find_writeup(std::string_view names, std::string_view flag) {
  Writeup writeup;
  Texts unique;
  append_new(unique, split(names, ','));
  for (const std::string& name : unique) {
    std::ranges::move(chapters_of(name, names, flag), std::back_inserter(writeup.chapters));
  }
  writeup.name = join(unique, ",");
  const BuiltInWriteup* const built_in = built_in_named(writeup.name);
  writeup.sums_up_missing = built_in != nullptr;
  const Chapter& first = writeup.chapters.front();
  writeup.title = built_in != nullptr ? std::string{built_in->title} : first.title;
  if (unique.size() > 1) writeup.title = fmt::format("{} studies", unique.size());
  return writeup;
}

StudyReport writeup_report(const Writeup& writeup, std::span<const results::NamedResults> results,
                           const StudyOptions& options) {
  const auto studies = writeup.studies();
  if (studies.size() == 1) return study_report(studies.front(), results, options);
  refuse_unknown_axes(writeup, options.axes);
  refuse_unused_shape(studies, options);
  StudyReport report{.title = fmt::format("{}: {}", writeup.name, writeup.title),
                     .sources = source_lines(results),
                     .answers = {},
                     .sections = {},
                     .notes = {},
                     .commands = {}};
  if (writeup.sums_up_missing) append_new(report.sources, protocol_lines(studies, results));
  Cases cases;
  for (const Chapter& chapter : writeup.chapters) {
    OpenChapter open{.heading = chapter.title};
    for (const Study& study : chapter.studies) {
      const StudyCells cells =
          study_cells(study, results, {.axes = axes_of(study, options.axes), .filter = options.filter});
      cases.add(cells);
      StudyContents contents = contents_of(shaped(study, options), cells);
      if (writeup.sums_up_missing) std::erase_if(contents.sections, &StudySection::is_unmeasured);
      append(report, std::move(contents), open);
    }
  }
  if (cases.all.empty()) throw no_case_matches(writeup.name, "--tb_study=" + writeup.name, options.filter);
  report.has_no_case = cases.untraced == 0 && cases.missing.size() == cases.all.size();
  if (writeup.sums_up_missing) {
    append_new(report.notes, not_shown());
    const MissingCells missing = missing_cells(cases.all, cases.missing);
    const auto packages = std::ranges::find_if_not(missing.packages, &std::string::empty);
    sum_up(report, missing.texts,
           fmt::format("./transformer_bench --tb_study={}{} --tb_resume --benchmark_out={}", writeup.name,
                       packages == missing.packages.end() ? "" : *packages,
                       results::quoted(file_to_resume(writeup.name, results))));
  }
  return report;
}

}  // namespace tbench::studies
