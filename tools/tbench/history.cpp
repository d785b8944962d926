// `tbench history`: shows a case over time, and imports results files into the history.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "help/messages.hpp"
#include "help/numbers.hpp"
#include "help/outputs.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/history/history.hpp"
#include "tbench/history/series.hpp"
#include "tbench/html/pages.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

struct HistoryArguments {
  std::string db{"tbench.db"};
  std::string pattern;
  std::string import;
  std::string backup;
  std::int64_t nights{90};
  double wait{history::History::kWait.value};
  bool json{};
  std::string html;
};

/// Imports the results files of a folder.
/// @return  whether every results file of the folder was read
bool import_folder(const HistoryArguments& arguments) {
  const auto [runs, ignored, refused] = history::read_runs_of_folder(arguments.import);
  for (const std::string& why : refused) warn(why);
  if (runs.empty()) {
    throw UsageError{fmt::format("--import: none of the results files in '{}' can be read; see the warnings above",
                                 arguments.import)};
  }
  if (!ignored.empty()) {
    note(fmt::format("'{}': left out {} that {} no results, such as '{}'", arguments.import,
                     counted_in(ignored, ".json file"), agreeing(ignored.size(), "holds", "hold"), ignored.front()));
  }
  history::History history = history::History::open(arguments.db, Seconds{arguments.wait});
  const auto added = history.add(runs);
  const auto is_new = std::ranges::count_if(added, &history::History::Added::is_new);
  const std::string line = fmt::format("{} added to '{}', {} known already", counted(is_new, "run"), arguments.db,
                                       added.size() - static_cast<std::size_t>(is_new));
  if (!arguments.json) {
    print_line(line);
  } else if (arguments.pattern.empty()) {
    const std::vector<std::string> words{"tbench", "history", "--db=" + arguments.db};
    results::Conclusion conclusion{
        .outcome = refused.empty() ? "IMPORTED" : "INCOMPLETE", .why = {line}, .next = results::command_line(words)};
    std::ranges::copy(refused, std::back_inserter(conclusion.why));
    fmt::print("{}", results::pretty(results::concluded("import", conclusion, {})));
  } else {
    say(line);
  }
  return refused.empty();
}

void show(const HistoryArguments& arguments) {
  const auto history = history::History::open_copy(arguments.db, Seconds{arguments.wait});
  const auto nights = static_cast<std::size_t>(arguments.nights);
  const std::vector<history::Series> series = history::read_series(history, arguments.pattern, nights);
  const std::size_t width = render::console_width(STDOUT_FILENO);
  if (!arguments.html.empty()) {
    write_output("-o", arguments.html, html::series_html(series));
  } else if (arguments.json) {
    fmt::print("{}", results::pretty(history::series_to_json(series, arguments.db)));
  } else if (series.size() == 1) {
    fmt::print("{}", history::series_page(series.front(), width));
  } else {
    fmt::print("{}", history::series_overview(series, width));
  }
}

int run_history(const HistoryArguments& arguments) {
  if (arguments.json && !arguments.html.empty()) throw UsageError{"--json and -o exclude each other; give one"};
  check_output({.flag = "-o", .path = arguments.html, .endings = {".html", ".htm"}, .formats = {"--json"}},
               std::span{&arguments.db, 1});
  const bool is_whole = arguments.import.empty() || import_folder(arguments);
  if (!arguments.backup.empty()) {
    history::History::back_up(arguments.db, arguments.backup, Seconds{arguments.wait});
    note(fmt::format("'{}' is copied to '{}'", arguments.db, arguments.backup));
  }
  const bool is_asked_to_show = !arguments.pattern.empty() || !arguments.html.empty();
  if (is_asked_to_show || (arguments.import.empty() && arguments.backup.empty())) show(arguments);
  return is_whole ? kExitOk : kExitPassedOver;
}

}  // namespace

void add_history(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("history", "Show cases over time, from the history of 'tbench gate'");
  const auto arguments = std::make_shared<HistoryArguments>();
  command->add_option(
      "REGEX", arguments->pattern,
      "Show the cases whose names match this regular expression: a single case in full, several in one row each");
  command->add_option("--db", arguments->db, "The history")->type_name("FILE")->capture_default_str();
  command
      ->add_option(
          "--import", arguments->import,
          "First add every results file in this folder and its subfolders to the history; processes of one build "
          "that follow each other within six hours form one run")
      ->type_name("DIR");
  command
      ->add_option(
          "--backup", arguments->backup,
          "Copy the history to this file, which must not exist. Other programs may write to the history meanwhile")
      ->type_name("FILE");
  command->add_option("--nights", arguments->nights, "Show only the newest N runs")
      ->type_name("N")
      ->check(count_of(1))
      ->capture_default_str();
  add_wait_option(*command, arguments->wait);
  command->add_flag("--json", arguments->json, "Print JSON with all data, for programs");
  command
      ->add_option("-o,--output", arguments->html, "Write a self-contained HTML page with a plot and a table per case")
      ->type_name("FILE.html");
  command->footer("In the plot: ▲ a change of level, ┊ a new driver or new libraries, × no valid value.");
  command->callback([arguments, &exit_status] { exit_status = run_history(*arguments); });
}

}  // namespace tbench::tool
