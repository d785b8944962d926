#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "command_line.hpp"
#include "help/outputs.hpp"
#include "report/checks.hpp"
#include "report/side_by_side.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/html/pages.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/experiments.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/experiments.hpp"
#include "tbench/studies/headline.hpp"
#include "tbench/studies/limits.hpp"
#include "tbench/studies/study_report.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::tool {
namespace {

render::ReportOptions options_of(const ReportArguments& arguments) {
  render::ReportOptions options = arguments.options;
  if (!arguments.pivot.empty()) options.pivot = split(arguments.pivot, ',');
  options.environment = !arguments.hides_environment;
  const std::optional<render::Metric> metric = render::parse_metric(arguments.show);
  if (!metric) {
    const auto names = render::metric_names();
    throw UsageError{
        with_suggestion(fmt::format("--show: unknown value '{}'", arguments.show), arguments.show, names, "values")};
  }
  options.show = *metric;
  options.max_width = render::console_width(STDOUT_FILENO);
  return options;
}

/// Returns the only format that the arguments select.
studies::StudyFormat study_format(const ReportArguments& arguments) {
  if (arguments.options.markdown + arguments.csv + arguments.latex + arguments.json + !arguments.html.empty() > 1) {
    throw UsageError{fmt::format("{}: --markdown, --csv, --latex, --json, --update and -o exclude each other; give one",
                                 table_kinds(arguments).front())};
  }
  if (arguments.options.markdown) return studies::StudyFormat::kMarkdown;
  if (arguments.csv) return studies::StudyFormat::kCsv;
  if (arguments.latex) return studies::StudyFormat::kLatex;
  if (arguments.json) return studies::StudyFormat::kJson;
  return studies::StudyFormat::kText;
}

/// Returns whether the arguments select a report with several tables, in all formats of a study.
bool is_study_report(const ReportArguments& arguments) { return !arguments.study.empty() || arguments.headline; }

studies::StudyReport headline_of(const ReportArguments& arguments, ResultFiles& files) {
  if (!arguments.pivot.empty()) throw UsageError{"--headline: its tables are fixed; leave out --pivot"};
  studies::HeadlineOptions options{.prices = {}, .filter = arguments.options.filter};
  for (const std::string& price : arguments.prices) options.prices.push_back(studies::parse_price(price, "--price"));
  return studies::headline_report(files.all(arguments.files), options);
}

/// Returns the report of --study or --headline, with the sources of its numbers.
studies::StudyReport whole_study_of(const ReportArguments& arguments, ResultFiles& files) {
  if (arguments.headline) return headline_of(arguments, files);
  const studies::Writeup writeup = studies::find_writeup(arguments.study, "--study");
  studies::StudyOptions options{.axes = {}, .filter = arguments.options.filter, .top = arguments.top};
  if (!arguments.pivot.empty()) options.pivot = split(arguments.pivot, ',');
  for (const std::string& axis : arguments.axes) {
    options.axes.push_back(studies::parse_study_axis(writeup, axis, "--axis"));
  }
  studies::StudyReport report = studies::writeup_report(writeup, files.all(arguments.files), options);
  if (report.has_no_case) {
    const std::string others =
        arguments.files.size() == 1
            ? ""
            : fmt::format(" or {}", counted(static_cast<std::int64_t>(arguments.files.size()) - 1, "other file"));
    files.warn(
        fmt::format("--study={}: no case of it is measured in '{}'{}. Measure it: transformer_bench --tb_study={}",
                    arguments.study, arguments.files.front(), others, arguments.study));
  }
  return report;
}

studies::StudyReport without_hidden_parts(studies::StudyReport report, const ReportArguments& arguments) {
  if (arguments.hides_environment) report.sources.clear();
  return report;
}

studies::StudyReport study_of(const ReportArguments& arguments, ResultFiles& files) {
  return without_hidden_parts(whole_study_of(arguments, files), arguments);
}

studies::StudyReport comparison_of(const ReportArguments& arguments, ResultFiles& files) {
  return without_hidden_parts(side_by_side(arguments, files).value(), arguments);
}

std::string shown(const render::Table& table, const ReportArguments& arguments) {
  return arguments.options.markdown ? table.markdown() : table.console(render::console_width(STDOUT_FILENO));
}

std::string limits_of(const ReportArguments& arguments, ResultFiles& files) {
  std::vector<Record> records;
  const std::vector<results::NamedResults> all = selected(arguments, files);
  for (const results::NamedResults& one : all) std::ranges::copy(one.file.records, std::back_inserter(records));
  const results::RunFlags run = results::run_flags(all.front().file);
  studies::require_trace(records, run);
  if (arguments.json) return studies::limits_json(records, run);
  return shown(studies::limits_table(records), arguments);
}

std::string experiments_of(const ReportArguments& arguments, const ResultFiles& files) {
  if (arguments.files.size() > 1) throw UsageError{"--experiments: give one file"};
  return studies::experiments_text(results::read_experiments(files.path_of(arguments.files.front())),
                                   {.filter = arguments.options.filter,
                                    .markdown = arguments.options.markdown,
                                    .max_width = render::console_width(STDOUT_FILENO)});
}

}  // namespace

std::string report_table(const ReportArguments& arguments, ResultFiles& files) {
  check_kind(arguments);
  if (is_study_report(arguments)) {
    const studies::StudyFormat format = study_format(arguments);
    return studies::study_page(study_of(arguments, files), format, render::console_width(STDOUT_FILENO));
  }
  if (arguments.limits) return limits_of(arguments, files);
  if (arguments.experiments) return experiments_of(arguments, files);
  if (!table_kinds(arguments).empty()) {
    const studies::StudyFormat format = study_format(arguments);
    return side_by_side_text(comparison_of(arguments, files), format, render::console_width(STDOUT_FILENO));
  }
  if (arguments.files.size() > 1) {
    throw UsageError{
        fmt::format("{} files: a page or a study shows several; add -o FILE.html or --study=NAME, or give one",
                    arguments.files.size())};
  }
  const std::string& path = arguments.files.front();
  if (arguments.json) return render::report_json(files.at(path), arguments.options, files.path_of(path));
  return render::report_page(files.at(path), options_of(arguments));
}

namespace {

/// The endings of -o for a study or a comparison, besides .html.
constexpr std::array<std::pair<std::string_view, studies::StudyFormat>, 4> kFormatsByEnding{
    {{".md", studies::StudyFormat::kMarkdown},
     {".csv", studies::StudyFormat::kCsv},
     {".tex", studies::StudyFormat::kLatex},
     {".json", studies::StudyFormat::kJson}}};

/// Returns the format that the file's ending names, or nullopt for a page.
std::optional<studies::StudyFormat> format_by_ending(const std::string& path) {
  const auto found =
      std::ranges::find_if(kFormatsByEnding, [&](const auto& format) { return path.ends_with(format.first); });
  return found == kFormatsByEnding.end() ? std::nullopt : std::optional{found->second};
}

/// Writes the charts of a report to a folder next to the Markdown file, and adds their paths to the report's sections.
void write_charts(studies::StudyReport& report, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path{path}.replace_extension().string() + "_figures";
  const std::vector<std::vector<html::StudyChart>> charts = html::study_charts(report);
  std::size_t number = 0;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    for (const html::StudyChart& chart : charts[i]) {
      const std::string name = fmt::format("{}.svg", ++number);
      std::error_code error;
      fs::create_directories(folder, error);
      if (error) throw UsageError{fmt::format("-o: cannot make the folder '{}': {}", folder.string(), error.message())};
      write_output("-o", (folder / name).string(), chart.svg);
      report.sections[i].pictures.push_back({.path = (folder.filename() / name).string(), .title = chart.title});
    }
  }
}

/// Writes a study or a comparison in the format that the file's ending names.
void write_tables(const ReportArguments& arguments, ResultFiles& files) {
  const std::optional<studies::StudyFormat> format = format_by_ending(arguments.html);
  if (is_study_report(arguments)) {
    studies::StudyReport report = study_of(arguments, files);
    if (format == studies::StudyFormat::kMarkdown) write_charts(report, arguments.html);
    return write_output("-o", arguments.html, format ? studies::study_page(report, *format) : html::study_html(report));
  }
  const auto comparison = comparison_of(arguments, files);
  write_output("-o", arguments.html,
               format ? side_by_side_text(comparison, *format, std::nullopt) : html::study_html(comparison));
}

}  // namespace

void write_report_page(const ReportArguments& arguments, ResultFiles& files) {
  check_kind(arguments);
  const bool has_kind = !table_kinds(arguments).empty();
  if (has_kind) static_cast<void>(study_format(arguments));
  if (arguments.options.markdown || (!arguments.pivot.empty() && arguments.over.empty() && arguments.study.empty())) {
    throw UsageError{"-o writes an HTML page with all tables; leave out --markdown, --pivot and --update"};
  }
  std::vector<std::string> endings{".html", ".htm"};
  if (has_kind) {
    for (const auto& [ending, format] : kFormatsByEnding) endings.emplace_back(ending);
  }
  check_output({.flag = "-o", .path = arguments.html, .endings = endings, .formats = {"--markdown", "--json"}},
               arguments.files);
  if (has_kind) return write_tables(arguments, files);
  write_output("-o", arguments.html, html::html_report(selected(arguments, files)));
}

}  // namespace tbench::tool
