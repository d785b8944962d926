#include "command_line.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::tool {
namespace {

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

}  // namespace

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

}  // namespace tbench::tool
