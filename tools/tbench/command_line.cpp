#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "help/file_kinds.hpp"
#include "help/hints.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::tool {
namespace {

/// Options that select a format other than JSON.
constexpr std::array kOtherFormats{"--csv", "--latex", "--markdown", "--output"};

/// Returns the subcommand that was given, otherwise the program itself.
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
          "a percentage", [](double value) { return value > 0 && value < 100; },
          "is no threshold; give percent, above 0 and below 100"));
}

void add_wait_option(CLI::App& command, double& seconds) {
  command.add_option("--wait", seconds, "Seconds to wait while another program writes to the history")
      ->type_name("S")
      ->capture_default_str()
      ->check(number_of(
          "a number of seconds", [](double value) { return value >= 0 && value <= 3600; },
          "is no time; give seconds, from 0 to 3600"));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  const std::string name = &command == &app ? "tbench" : "tbench " + command.get_name();
  // A hint ends with a question mark.
  const auto with_help = [&](const std::string& text) {
    return fmt::format("{} '{} --help'", text.ends_with('?') ? text + " See" : text + "; see", name);
  };
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return with_help(explain_number(error).value_or(error.what()));
  const std::string& text = unknown.front();
  if (text.starts_with("-")) {
    const std::string flag = text.substr(0, text.find('='));
    if (&command != &app && command.get_option_no_throw(flag) != nullptr) {
      return fmt::format("'{}' stands before the command; did you mean '{} {}'?", text, name, text);
    }
    return with_help(fmt::format("unknown flag '{}'{}", flag, flag_hint(unknown, command)));
  }
  if (&command != &app) return with_help(fmt::format("unexpected argument '{}'", text));
  if (const auto meant = command_of_files(unknown)) {
    return fmt::format("'{}' is a file, not a command; did you mean '{}'?", text, *meant);
  }
  const std::vector<std::string> commands = command_names(app);
  const std::string hint = command_hint(text, commands);
  return with_help(
      fmt::format("unknown command '{}'{}", text, hint.empty() ? "; commands: " + join(commands, ", ") : hint));
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

void check_no_input(const std::string& flag, const std::string& path, std::span<const std::string> inputs) {
  if (path.empty()) return;
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (!std::filesystem::equivalent(input, path, missing)) continue;
    throw UsageError{fmt::format("{}: '{}' is one of the inputs. Give another name.", flag, path)};
  }
  results::refuse_locked(path, flag);
}

void check_output(const std::string& flag, const std::string& path, std::span<const std::string> inputs) {
  check_no_input(flag, path, inputs);
  const std::string_view lost = measurements_in(path);
  if (lost.empty()) return;
  throw UsageError{fmt::format("{}: '{}' holds {}, which would be lost. Give another name.", flag, path, lost)};
}

void write_output(const std::string& flag, const std::string& path, const std::string& content) {
  try {
    results::write_atomically(path, content);
  } catch (const results::WriteError& error) {
    throw UsageError{fmt::format("{}: {}", flag, error.what())};
  }
}

}  // namespace tbench::tool
