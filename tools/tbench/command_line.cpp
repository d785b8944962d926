#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "help/examples.hpp"
#include "help/file_kinds.hpp"
#include "help/hints.hpp"
#include "help/numbers.hpp"
#include "help/outputs.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

/// Options that select a format other than JSON.
constexpr std::array kOtherFormats{"--csv", "--latex", "--markdown", "--output"};

/// Returns the subcommand that was given, or the program itself if none was given.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app : *given.front();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Explains a flag of a command that stands before the command.
std::string explain_early_flag(std::span<const std::string> words, const CLI::App& command) {
  const CLI::Option* const option = command.get_option_no_throw(typed_flag(words).name);
  const TypedFlag typed = typed_flag(words);
  const bool has_value = typed.is_separate && option->get_items_expected_min() > 0 && typed.value != command.get_name();
  const std::string given = has_value ? fmt::format("{} {}", words[0], words[1]) : words[0];
  return fmt::format("'{}' stands before the command; did you mean 'tbench {} {}'?", words[0], command.get_name(),
                     given);
}

/// Explains an argument that the command has no place for.
std::string explain_extra(const std::string& text, std::span<const std::string> words, const CLI::App& command,
                          const std::function<std::string(const std::string&)>& with_help) {
  const std::string& name = command.get_name();
  if (text == "help") return fmt::format("unexpected argument 'help'; did you mean 'tbench {} --help'?", name);
  if (std::ranges::find(words, "--") != words.end()) {
    return with_help(fmt::format("unexpected argument '{}'; leave out '--'", text));
  }
  std::string hint;
  if (name == "history") {
    const std::string first =
        command.get_option("REGEX")->results().empty() ? "" : command.get_option("REGEX")->as<std::string>();
    hint = did_you_mean_text(fmt::format("{}|{}", first, text));
  }
  std::error_code missing;
  if (name == "classify") {
    const bool is_file = std::filesystem::exists(text, missing);
    hint = did_you_mean_text(is_file ? "tbench classify < " + text : "echo NAME | tbench classify");
  }
  return with_help(fmt::format("unexpected argument '{}'{}", text, hint));
}

/// Returns the error message for a word where a command is expected.
/// @param words  the word and those after it
std::string explain_word(std::span<const std::string> words, const std::vector<std::string>& commands) {
  const std::string& text = words.front();
  std::error_code missing;
  if (const auto meant = command_of_files(words)) {
    const bool is_folder = std::filesystem::is_directory(text, missing);
    return fmt::format("'{}' is a {}, not a command; did you mean '{}'?", text, is_folder ? "folder" : "file", *meant);
  }
  const std::size_t space = text.find(' ');
  if (space != std::string::npos && std::ranges::find(commands, text.substr(0, space)) != commands.end()) {
    return fmt::format("'{}' is one word; leave out the quotation marks around it", text);
  }
  if (std::filesystem::exists(text, missing)) {
    return fmt::format("'{}' is a file, not a command, and no command reads it; see 'tbench --help'", text);
  }
  if (!ending_of(text).empty()) {
    return fmt::format("'{}': no such file, and no command; see 'tbench --help'", text);
  }
  const std::string hint = command_hint(text, commands);
  return hint.empty() ? fmt::format("unknown command '{}'; 'tbench --help' lists the commands", text)
                      : fmt::format("unknown command '{}'{}", text, hint);
}

/// Returns the first bytes of a file, unpacked if the file is packed; empty if it cannot be read.
std::string start_of(const std::string& path) {
  constexpr std::streamsize kStart = 256;
  std::string start(kStart, '\0');
  std::ifstream file{path, std::ios::binary};
  file.read(start.data(), kStart);
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (!results::is_packed(start)) return start;
  try {
    return results::unpack(results::read_whole_file(path)).substr(0, kStart);
  } catch (const std::exception&) {
    return "";
  }
}

/// Returns whether the text begins like results: `{"context"`, with any spaces.
bool begins_as_results(const std::string& start) {
  std::string words;
  for (const char c : start) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) words += c;
  }
  return words.starts_with(R"({"context")");
}

}  // namespace

bool is_database(const std::string& path) {
  constexpr std::string_view kBegin = "SQLite format 3";
  std::ifstream file{path, std::ios::binary};
  std::string start(kBegin.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kBegin;
}

std::string_view measurements_in(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return "";
  if (is_database(path)) return "a database";
  const std::string start = start_of(path);
  if (begins_as_results(start)) return "results";
  return path.ends_with(".journal") && !start.empty() ? "the journal of a run" : "";
}

void add_tau_option(CLI::App& command, std::optional<double>& percent) {
  command
      .add_option("--tau", percent,
                  "Smallest change that matters, in percent [default: 2 for model steps, else 3, or 5 below 100 us]")
      ->type_name("PERCENT")
      ->check(number_of(
          "a percentage", &percent_in, [](double value) { return value > 0 && value < 100; },
          "is not a threshold; give percent > 0 and < 100"));
}

void add_wait_option(CLI::App& command, double& seconds) {
  command.add_option("--wait", seconds, "Seconds to wait while another program writes to the history")
      ->type_name("S")
      ->capture_default_str()
      ->check(number_of(
          "a number of seconds", &seconds_in, [](double value) { return value >= 0 && value <= 3600; },
          "is not a time; give seconds, from 0 to 3600"));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error, std::span<const std::string> words) {
  const CLI::App& command = chosen(app);
  const std::string name = &command == &app ? "tbench" : "tbench " + command.get_name();
  const auto with_help = [&](const std::string& text) {
    const bool has_hint = text.ends_with('?');
    return has_hint ? text : fmt::format("{}; see '{} --help'", text, name);
  };
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    const std::string text = explain_value(error);
    if (!text.ends_with(" is required") || &command == &app) return with_help(text);
    return fmt::format("{}, e.g. '{}'", text, example_of(command.get_name()));
  }
  const std::string& text = unknown.front();
  if (text.starts_with("-") && text != "-" && text != "--") {
    const std::string flag = typed_flag(unknown).name;
    const auto place = std::ranges::find(words, text);
    const std::span<const std::string> rest =
        place == words.end() ? std::span<const std::string>{unknown} : words.subspan(place - words.begin());
    if (&command != &app && command.get_option_no_throw(flag) != nullptr) return explain_early_flag(rest, command);
    return with_help(fmt::format("unknown flag '{}'{}", flag, flag_hint(rest, command, app)));
  }
  if (&command != &app) return explain_extra(text, words, command, with_help);
  return explain_word(unknown, command_names(app));
}

std::string error_document(const CLI::App& app, results::Conclusion conclusion, int exit_status) {
  const CLI::App& command = chosen(app);
  const auto is_given = [&](const char* flag) {
    const CLI::Option* const option = command.get_option_no_throw(flag);
    return option != nullptr && option->count() > 0;
  };
  if (!is_given("--json") || std::ranges::any_of(kOtherFormats, is_given)) return "";
  if (conclusion.next.empty()) conclusion.next = fmt::format("tbench {} --help", command.get_name());
  results::Json status;
  status["exit_status"] = exit_status;
  return results::pretty(results::concluded("error", conclusion, std::move(status)));
}

}  // namespace tbench::tool
