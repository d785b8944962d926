// `tbench report`: prints the tables of results files, and updates the tables in Markdown documents. The marker of a
// section has the command that makes its table, `<!-- tbench:NAME report FILE ... -->` or `diff`, with paths relative
// to the document.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "diff.hpp"
#include "help/outputs.hpp"
#include "report.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::tool {
namespace {

constexpr int kExitDiffers = 1;

std::string read_document(const std::string& path, const char* flag) {
  try {
    return results::read_whole_file(path);
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("{}: {}; give a Markdown file that exists", flag, error.what())};
  }
}

/// Returns a line with every machine and build of the files, `From NVIDIA H200, build Release bb95c6785845`; empty if
/// none of the files are results of this project.
std::string builds_line(const std::vector<std::string>& paths, ResultFiles& files) {
  std::map<std::string, std::set<std::string>> builds;  // by device
  for (const std::string& path : paths) {
    try {
      const Environment& environment = files.at(path).environment;
      builds[environment.gpu ? environment.gpu->name : environment.cpu_name].insert(
          fmt::format("{} {}", environment.build_type, build_name(environment)));
    } catch (const UsageError&) {  // Google Benchmark's JSON has no build
    }
  }
  std::vector<std::string> parts;
  for (const auto& [device, names] : builds) {
    parts.push_back(fmt::format("{}, build {}", device, join(std::vector(names.begin(), names.end()), ", ")));
  }
  return parts.empty() ? "" : "From " + join(parts, "; ");
}

/// Returns the table followed by the builds, unless the table names them.
std::string with_builds(std::string table, const std::vector<std::string>& paths, ResultFiles& files) {
  if (table.find(", build ") != std::string::npos) return table;
  const std::string line = builds_line(paths, files);
  if (line.empty()) return table;
  if (!table.ends_with('\n')) table += '\n';
  return table + '\n' + line + '\n';
}

/// Returns the table that a section's command makes, `report` or `diff`, as Markdown.
/// @param folder  folder of the document
std::string table_of(const render::MarkdownSection& section, const std::filesystem::path& folder, ResultFiles& files) {
  CLI::App app{"", "tbench"};
  app.require_subcommand(1);
  ReportArguments arguments;
  declare_table_options(*app.add_subcommand("report"), arguments);
  DiffArguments sides;
  CLI::App* const diff = app.add_subcommand("diff");
  declare_comparison_options(*diff, sides);
  std::vector<std::string> reversed{section.command.rbegin(), section.command.rend()};  // in the order that CLI11 takes
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    throw UsageError{explain(app, error, section.command)};
  }
  if (diff->parsed()) return comparison_markdown(std::move(sides), folder);
  arguments.options.markdown = true;
  std::string table = report_table(arguments, files);
  if (arguments.manifest || arguments.self_comparison || arguments.experiments) return table;
  return with_builds(std::move(table), arguments.files, files);
}

/// Returns `document` with new tables in every section that has a command.
std::string rewritten(const std::string& path, std::string document) {
  const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
  ResultFiles files{folder};
  bool has_command = false;
  for (const render::MarkdownSection& section : render::sections_of(document)) {
    if (section.command.empty()) continue;
    has_command = true;
    try {
      document = render::replace_section(document, section.name, table_of(section, folder, files));
    } catch (const UsageError& error) {
      throw UsageError{fmt::format("'{}': section '{}': {}", path, section.name, error.what())};
    }
  }
  if (!has_command) {
    throw UsageError{
        fmt::format("'{}': no section has a command; write it into the marker, as in <!-- tbench:NAME report FILE -->, "
                    "or give --section",
                    path)};
  }
  return document;
}

/// Describes the first line in which two texts differ, counted from 1; empty if they are equal.
std::string first_difference(const std::string& is, const std::string& should) {
  const std::vector<std::string> a = split(is, '\n');
  const std::vector<std::string> b = split(should, '\n');
  const auto [left, right] = std::ranges::mismatch(a, b);
  const auto line_of = [](const auto& lines, auto at) { return at == lines.end() ? std::string{"the end"} : *at; };
  return fmt::format("line {}:\n-{}\n+{}", left - a.begin() + 1, line_of(a, left), line_of(b, right));
}

/// Writes `table` between the markers of a section.
/// @throws  UsageError  naming the document, the problem and the remedy
void update_section(const std::string& path, const std::string& section, const std::string& table) {
  const std::string document = read_document(path, "--update");
  try {
    write_output("--update", path, render::replace_section(document, section, table));
  } catch (const UsageError& error) {
    throw UsageError{fmt::format("--update: '{}': {}", path, error.what())};
  }
}

/// Writes every section whose marker has a command.
/// @throws  UsageError  as update_section; naming the section, for a command that fails; if no section has a command
void update_document(const std::string& path) {
  const std::string document = read_document(path, "--update");
  write_output("--update", path, rewritten(path, document));
}

/// Prints the differences from the document that update_document would write, and the sections without a command.
/// @return  whether there are no differences and every section has a command
/// @throws  as update_document
bool check_document(const std::string& path) {
  const std::string document = read_document(path, "--check");
  bool is_well = true;
  for (const render::MarkdownSection& section : render::sections_of(document)) {
    if (!section.command.empty()) continue;
    is_well = false;
    fmt::print(
        "{}: the section '{}' has no command; write it into its marker, as in <!-- tbench:NAME report FILE -->\n", path,
        section.name);
  }
  const std::string should = rewritten(path, document);
  if (should == document) return is_well;
  fmt::print("{}: not what the results say ('tbench report --update={}' writes that), from {}\n", path, path,
             first_difference(document, should));
  return false;
}

void run_report(ReportArguments arguments, int& exit_status) {
  if (!arguments.section.empty() && arguments.update.empty()) {
    throw UsageError{"--update=FILE.md and --section=NAME belong together; give both or neither"};
  }
  const bool is_of_documents = !arguments.check.empty() || (!arguments.update.empty() && arguments.section.empty());
  if (is_of_documents) {
    if (!arguments.files.empty() || !table_kinds(arguments).empty() || !arguments.section.empty()) {
      throw UsageError{"--check, and --update without --section, take commands from the page; leave out the others"};
    }
    for (const std::string& path : arguments.check) {
      if (!check_document(path)) exit_status = kExitDiffers;
    }
    if (!arguments.update.empty()) update_document(arguments.update);
    return;
  }
  arguments.options.markdown = arguments.options.markdown || !arguments.update.empty();
  ResultFiles files{""};
  if (arguments.update.empty()) {
    arguments.files = without_folders(arguments.files);
    files.let_pass_over();
  }
  if (!arguments.html.empty()) {
    write_report_page(arguments, files);
  } else if (const std::string table = report_table(arguments, files); arguments.update.empty()) {
    fmt::print("{}", table);
  } else {
    update_section(arguments.update, arguments.section, table);
  }
  if (files.has_warned()) exit_status = kExitPassedOver;
}

}  // namespace

void add_report(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("report", "Show the tables of a results file");
  const auto arguments = std::make_shared<ReportArguments>();
  declare_table_options(*command, *arguments);
  declare_output_options(*command, *arguments);
  command->footer(
      "Exit: 0; 1 some of several files cannot be read (they are named and skipped), no file has a case of --study, or "
      "--check found a section that differs; 2 usage or unreadable input.");
  command->callback([arguments, &exit_status] { run_report(*arguments, exit_status); });
}

}  // namespace tbench::tool
