#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "page_file.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/durable_file.hpp"
#include "tbench/report/html_report.hpp"
#include "tbench/report/markdown_section.hpp"
#include "tbench/report/progress_line.hpp"
#include "tbench/report/record_filter.hpp"
#include "tbench/report/report_page.hpp"
#include "tbench/report/result_writer.hpp"
#include "tbench/report/study.hpp"
#include "tbench/report/study_page.hpp"
#include "tbench/report/study_report.hpp"
#include "tbench/report/summary.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string html;
  report::ReportOptions options;
  std::string pivot;  // keys, separated by commas
  std::string show{"ms"};
  bool hides_environment{};
  std::string update;
  std::string section;
  std::string study;
  std::vector<std::string> axes;
  bool csv{};
  bool latex{};
};

/// A killed run leaves its last records in the journal: they are results like the others.
report::ResultFile load(const std::string& path) {
  report::ResultFile file = report::read_result_file(path);
  const std::size_t count = file.records.size();
  if (const auto merged = report::load_for_resume(path)) file = *merged;
  if (file.records.size() > count) {
    fmt::print(stderr, "note: {} of {} cases come from '{}.journal': the run was killed\n", file.records.size() - count,
               file.records.size(), path);
  }
  return file;
}

report::ReportOptions options_of(const Arguments& arguments) {
  report::ReportOptions options = arguments.options;
  if (!arguments.pivot.empty()) options.pivot = split(arguments.pivot, ',');
  options.environment = !arguments.hides_environment;
  options.markdown = options.markdown || !arguments.update.empty();
  const std::optional<report::Metric> metric = report::parse_metric(arguments.show);
  if (!metric) {
    const auto names = report::metric_names();
    throw UsageError{fmt::format("--show: unknown value '{}'{} (values: {})", arguments.show,
                                 did_you_mean(arguments.show, names), join(names, ", "))};
  }
  options.show = *metric;
  options.max_width = report::terminal_width(STDOUT_FILENO);
  return options;
}

std::string read_document(const std::string& path) {
  try {
    return report::read_whole_file(path);
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("--update: {}; give a Markdown file that exists", error.what())};
  }
}

void update(const Arguments& arguments, const std::string& page) {
  const std::string document = read_document(arguments.update);
  try {
    report::write_atomically(arguments.update, report::replace_section(document, arguments.section, page));
  } catch (const UsageError& error) {
    throw UsageError{fmt::format("--update: '{}': {}", arguments.update, error.what())};
  }
}

void check_html(const Arguments& arguments) {
  const bool has_other = arguments.options.markdown || !arguments.pivot.empty() || !arguments.update.empty();
  if (has_other) {
    throw UsageError{"-o writes an HTML page with all tables; leave out --markdown, --pivot and --update"};
  }
  check_page_path(arguments.html, arguments.files);
}

/// The file's name; its path where two files have the same name.
std::string label_of(const std::string& path, const std::vector<std::string>& paths) {
  const auto name = std::filesystem::path{path}.filename();
  std::size_t same = 0;
  for (const std::string& other : paths) same += std::filesystem::path{other}.filename() == name ? 1 : 0;
  return same > 1 ? path : name.string();
}

std::vector<report::NamedResults> load_all(const Arguments& arguments) {
  std::vector<report::NamedResults> results;
  for (const std::string& path : arguments.files) results.push_back({label_of(path, arguments.files), load(path)});
  return results;
}

void write_html(const Arguments& arguments) {
  check_html(arguments);
  std::vector<report::NamedResults> results = load_all(arguments);
  for (report::NamedResults& result : results) {
    result.file.records = report::select_records(result.file.records, arguments.options.filter);
  }
  write_page(arguments.html, report::html_report(results));
}

/// The only format that the arguments ask for.
report::StudyFormat study_format(const Arguments& arguments) {
  const bool markdown = arguments.options.markdown || !arguments.update.empty();
  if (markdown + arguments.csv + arguments.latex + !arguments.html.empty() > 1) {
    throw UsageError{"--study: --markdown, --csv, --latex, --update and -o exclude each other; give one"};
  }
  if (markdown) return report::StudyFormat::kMarkdown;
  if (arguments.csv) return report::StudyFormat::kCsv;
  if (arguments.latex) return report::StudyFormat::kLatex;
  return arguments.html.empty() ? report::StudyFormat::kText : report::StudyFormat::kHtml;
}

void run_study(const Arguments& arguments) {
  const report::Study& study = report::find_study(arguments.study, "--study");
  const report::StudyFormat format = study_format(arguments);
  if (!arguments.pivot.empty()) throw UsageError{"--study: its table is fixed; leave out --pivot"};
  if (!arguments.html.empty()) check_html(arguments);
  report::StudyOptions options{.axes = {}, .filter = arguments.options.filter};
  for (const std::string& axis : arguments.axes) options.axes.push_back(parse_axis_override(axis, "--axis"));
  const std::vector<report::NamedResults> results = load_all(arguments);
  const std::string page =
      report::study_page(report::study_report(study, results, options), format, report::terminal_width(STDOUT_FILENO));
  if (!arguments.html.empty()) return write_page(arguments.html, page);
  if (!arguments.update.empty()) return update(arguments, page);
  fmt::print("{}", page);
}

void run(const Arguments& arguments) {
  if (arguments.update.empty() != arguments.section.empty()) {
    throw UsageError{"--update=FILE.md and --section=NAME belong together; give both or neither"};
  }
  if (!arguments.study.empty()) return run_study(arguments);
  if (arguments.csv || arguments.latex || !arguments.axes.empty()) {
    throw UsageError{
        fmt::format("--csv, --latex and --axis are for the table of a study; add --study=NAME (studies: {})",
                    join(report::study_names(), ", "))};
  }
  if (!arguments.html.empty()) return write_html(arguments);
  if (arguments.files.size() > 1) {
    throw UsageError{fmt::format(
        "{} files: only a page or a study shows several; add -o FILE.html or --study=NAME, or give one file",
        arguments.files.size())};
  }
  const report::ReportOptions options = options_of(arguments);
  const std::string page = report::report_page(load(arguments.files.front()), options);
  if (arguments.update.empty()) {
    fmt::print("{}", page);
  } else {
    update(arguments, page);
  }
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Show the tables of a results file");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("FILE", arguments->files,
                   "Results, as transformer_bench --benchmark_out=FILE writes them; several with -o or --study")
      ->required();
  command->add_option("-o,--output", arguments->html, "Write a self-contained HTML page with tables and plots")
      ->type_name("FILE.html");
  command->add_flag("--markdown", arguments->options.markdown, "Tables for a Markdown file");
  command->add_option("--filter", arguments->options.filter, "Only cases whose name matches this regular expression")
      ->type_name("REGEX");
  command->add_option("--pivot", arguments->pivot, "Spread the values of these parameters over columns")
      ->type_name("KEY[,KEY...]");
  command
      ->add_option("--show", arguments->show,
                   fmt::format("What the cells of a pivot hold: {}", fmt::join(report::metric_names(), ", ")))
      ->capture_default_str()
      ->type_name("METRIC");
  command->add_flag("--no-environment", arguments->hides_environment, "Leave out where and with what it was measured");
  command
      ->add_option("--update", arguments->update,
                   "Write the tables as Markdown between the markers of --section in this file")
      ->type_name("FILE.md");
  command
      ->add_option("--section", arguments->section,
                   "Between <!-- tbench:NAME --> and <!-- /tbench:NAME --> of the file of --update")
      ->type_name("NAME");
  command
      ->add_option("--study", arguments->study,
                   fmt::format("The table of a study, from any files: {}", join(report::study_names(), ", ")))
      ->type_name("NAME");
  command
      ->add_option("--axis", arguments->axes,
                   "With --study: Family.key=v1,v2, other values than the study's (repeatable)")
      ->allow_extra_args(false)
      ->type_name("AXIS");
  command->add_flag("--csv", arguments->csv, "With --study: for a spreadsheet");
  command->add_flag("--latex", arguments->latex, "With --study: for a paper");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool
