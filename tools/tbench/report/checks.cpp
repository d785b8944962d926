#include "report/checks.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::tool {
namespace {

/// Refuses formats that the table of a file, --limits and --experiments do not have.
void check_plain_formats(const ReportArguments& arguments, const std::vector<std::string>& kinds) {
  if (arguments.csv || arguments.latex) {
    throw UsageError{"--csv and --latex are for studies and comparisons; add --study=NAME, or use --json"};
  }
  if (arguments.json && arguments.experiments)
    throw UsageError{"--json: not for --experiments, whose file is a table already"};
  if (arguments.json && (arguments.options.markdown || !arguments.html.empty() || !arguments.pivot.empty())) {
    throw UsageError{"--json, --markdown, --pivot, --update and -o exclude each other; give one"};
  }
  if (!kinds.empty() && !arguments.html.empty()) {
    throw UsageError{fmt::format("{}: there is no page of it; leave out -o", kinds.front())};
  }
}

/// Refuses options for the cells of tables that the report does not have.
void check_cells(const ReportArguments& arguments, const std::vector<std::string>& kinds) {
  const bool has_metric = arguments.show != ReportArguments{}.show;
  if (has_metric && !kinds.empty()) {
    throw UsageError{
        fmt::format("--show={}: {} has quantities of its own; leave out --show", arguments.show, kinds.front())};
  }
  if (has_metric && arguments.pivot.empty()) {
    throw UsageError{
        fmt::format("--show={}: only for the cells of a pivot; add --pivot=KEY, such as --pivot=ctx", arguments.show)};
  }
  if (!arguments.rows.empty() && arguments.over.empty()) {
    throw UsageError{fmt::format("--rows={}: only for --over with --pivot; leave out --rows", arguments.rows)};
  }
}

}  // namespace

void check_kind(const ReportArguments& arguments) {
  const std::vector<std::string> kinds = table_kinds(arguments);
  if (kinds.size() > 1) throw UsageError{fmt::format("{} exclude each other; give one", join(kinds, " and "))};
  if (std::error_code missing; std::filesystem::is_regular_file(arguments.study, missing)) {
    throw UsageError{
        fmt::format("--study: '{}' is a file, not a study; write --study=NAME {}", arguments.study, arguments.study)};
  }
  if (!arguments.study.empty()) static_cast<void>(studies::find_writeup(arguments.study, "--study"));
  if (arguments.files.empty()) throw UsageError{"FILE is required: results, as --benchmark_out=FILE writes them"};
  if (!arguments.prices.empty() && !arguments.headline) {
    throw UsageError{"--price is for --headline; give both"};
  }
  if (!arguments.over.empty() && !arguments.pivot.empty() && arguments.csv) {
    throw UsageError{"--csv: a cell of --over with --pivot has a name and a number; leave out --pivot and --rows"};
  }
  check_cells(arguments, kinds);
  if (arguments.study.empty() && !arguments.axes.empty()) {
    throw UsageError{"--axis is for the table of a study; add --study=NAME, one of those in 'tbench report --help'"};
  }
  if (arguments.study.empty() && arguments.top) {
    throw UsageError{
        fmt::format("--top={} is for the rankings of a study; add --study=ranked_kernels", *arguments.top)};
  }
  if ((arguments.self_comparison || arguments.manifest) && !arguments.options.filter.empty()) {
    throw UsageError{fmt::format("--filter: {} shows a file as it is; leave out one of them", kinds.front())};
  }
  if (kinds.empty() || arguments.limits || arguments.experiments) check_plain_formats(arguments, kinds);
}

}  // namespace tbench::tool
