#include "report/side_by_side.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/results/companion_files.hpp"
#include "tbench/studies/side_by_side.hpp"

namespace tbench::tool {
namespace {

/// Returns the meanings of the marks of a table's cells.
std::vector<std::string> legend_of(const render::Table& table) {
  std::string marks;
  for (const auto& row : table.rows()) {
    for (const render::Cell& cell : row) marks += cell.marks;
  }
  return render::legend_of(marks);
}

/// Returns a report of one table without a caption of its own.
studies::StudyReport report_of(std::string title, const render::Table& table, std::vector<std::string> sources) {
  studies::StudyReport report;
  report.title = std::move(title);
  report.sources = std::move(sources);
  report.notes = legend_of(table);
  report.sections.push_back({.caption = report.title, .columns = table.columns(), .rows = table.rows()});
  return report;
}

std::vector<std::string> sources_of(const std::vector<results::NamedResults>& results) {
  std::vector<std::string> sources;
  for (const results::NamedResults& one : results) sources.push_back(studies::source_line(one));
  return sources;
}

studies::StudyReport ratios_of(const ReportArguments& arguments, ResultFiles& files) {
  if (arguments.over.empty() || arguments.of.empty()) {
    throw UsageError{"--of and --over belong together: times of the one over times of the other; give both"};
  }
  if (arguments.pivot.empty() != arguments.rows.empty()) {
    throw UsageError{"--over: --pivot=KEY makes the columns and --rows=KEY,... names the rows; give both or neither"};
  }
  studies::RatioOptions options{
      .of = {},
      .over = studies::parse_selector(arguments.over, "--over"),
      .pivot = arguments.pivot,
      .rows = arguments.rows.empty() ? std::vector<std::string>{} : split(arguments.rows, ','),
      .filter = arguments.options.filter};
  std::vector<std::string> numerators;
  for (const std::string& text : arguments.of) {
    options.of.push_back(studies::parse_selector(text, "--of"));
    numerators.push_back(studies::values_of(options.of.back()));
  }
  const std::vector<results::NamedResults> results = files.all(arguments.files);
  const std::string over = studies::values_of(options.over);
  const std::string by = options.pivot.empty() ? "" : fmt::format(" by {}", options.pivot);
  return report_of(
      fmt::format("Time of {} over that of {}{}; above 1, {} is faster", join(numerators, " or "), over, by, over),
      studies::ratio_table(results, options), sources_of(results));
}

}  // namespace

std::vector<results::NamedResults> selected(const ReportArguments& arguments, ResultFiles& files) {
  std::vector<results::NamedResults> all = files.all(arguments.files);
  for (results::NamedResults& one : all) {
    one.file.records = results::select_records(one.file.records, arguments.options.filter);
  }
  return all;
}

std::optional<studies::StudyReport> side_by_side(const ReportArguments& arguments, ResultFiles& files) {
  if (!arguments.over.empty() || !arguments.of.empty()) return ratios_of(arguments, files);
  const std::string path = files.path_of(arguments.files.front());
  if (arguments.self_comparison) {
    return report_of("One build against itself, with and without an injected slowdown",
                     studies::self_comparison_table(results::read_self_comparison(path)), {arguments.files.front()});
  }
  if (arguments.manifest) {
    return report_of("Files of results", studies::manifest_table(results::read_manifest(path)),
                     {arguments.files.front()});
  }
  const auto made_of = [&](std::string title, const auto& table_of) {
    const std::vector<results::NamedResults> results = selected(arguments, files);
    return report_of(std::move(title), table_of(results), sources_of(results));
  };
  if (arguments.repeat) return made_of("Medians of several processes", studies::repeat_table);
  if (arguments.host_times) return made_of("The host's time in a run, by family", studies::host_times_table);
  if (!arguments.pytorch.empty()) {
    return made_of("Beside PyTorch", [&](const auto& results) {
      return studies::pytorch_table(results::read_pytorch_times(files.path_of(arguments.pytorch)), results);
    });
  }
  if (!arguments.ncu.empty()) {
    return made_of("Kernels by trace and by Nsight Compute", [&](const auto& results) {
      return studies::ncu_table(results::read_ncu_times(files.path_of(arguments.ncu)), results);
    });
  }
  return std::nullopt;
}

std::string side_by_side_text(const studies::StudyReport& report, studies::StudyFormat format,
                              std::optional<std::size_t> max_width) {
  const render::Table table = report.sections.front().table();
  if (format == studies::StudyFormat::kText) return table.console(max_width);
  if (format == studies::StudyFormat::kMarkdown) return table.markdown();
  if (format == studies::StudyFormat::kCsv) return table.csv();
  return studies::study_page(report, format);
}

}  // namespace tbench::tool
