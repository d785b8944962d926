#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

/// Options that ask for another format than --json.
constexpr std::array kOtherFormats{"--csv", "--latex", "--markdown", "--output"};

/// The subcommand that was given, else the program itself.
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

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Takes a number for which `fits` holds.
CLI::Validator number_that(bool (*fits)(double), const char* otherwise) {
  return {[fits, otherwise](std::string& text) {
            double value{};
            const bool is_well = CLI::detail::lexical_cast(text, value) && fits(value);
            return is_well ? std::string{} : fmt::format("{} {}", text, otherwise);
          },
          ""};
}

}  // namespace

void add_tau_option(CLI::App& command, std::optional<double>& percent) {
  command
      .add_option("--tau", percent,
                  "Smallest change that matters, in percent [default: 2 for model steps, else 3, or 5 below 100 us]")
      ->type_name("PERCENT")
      ->check(number_that([](double value) { return value > 0 && value < 100; },
                          "is no threshold; give percent, above 0 and below 100"));
}

void add_wait_option(CLI::App& command, double& seconds) {
  command.add_option("--wait", seconds, "Seconds to wait while another program writes to the history")
      ->type_name("S")
      ->capture_default_str()
      ->check(number_that([](double value) { return value >= 0 && value <= 3600; },
                          "is no time; give seconds, from 0 to 3600"));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  const std::string help = fmt::format("see '{} --help'", &command == &app ? "tbench" : "tbench " + command.get_name());
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return fmt::format("{}; {}", error.what(), help);
  const std::string& text = unknown.front();
  if (text.starts_with("-")) {
    const std::string flag = text.substr(0, text.find('='));
    return fmt::format("unknown flag '{}'{}; {}", flag, did_you_mean(flag, flag_names(command)), help);
  }
  if (&command != &app) return fmt::format("unexpected argument '{}'; {}", text, help);
  const std::vector<std::string> commands = command_names(app);
  return fmt::format("unknown command '{}'{}; commands: {}; {}", text, did_you_mean(text, commands),
                     join(commands, ", "), help);
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

void check_page_path(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (!std::filesystem::equivalent(input, path, missing)) continue;
    throw UsageError{fmt::format("-o: '{}' is what the page is made from; give the page another name", path)};
  }
}

void write_page(const std::string& path, const std::string& page) {
  try {
    results::write_atomically(path, page);
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("-o: {}; give a file in a folder that exists and can be written", error.what())};
  }
}

}  // namespace tbench::tool
