// The --help of both programs: lines of at most 100 columns, readable types of values, and examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tbench/render/terminal.hpp"

namespace tbench::render {

/// The largest number of columns of a line of --help.
inline constexpr std::size_t kHelpWidth = kConsoleWidth;

/// Formats the help of a program and of its commands, wrapped at kHelpWidth. Omits type annotations that tell the user
/// nothing: `TEXT` after a positional argument, `ENUM:` and `BOOLEAN:` before a list of values, and the check of a
/// number (`in [1 - 9]`), which the error message states anyway.
class HelpFormatter : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

/// Returns `--tau: no value; write --tau=PERCENT` for the error of a flag without its value, and the error's own text
/// otherwise.
[[nodiscard]] std::string parse_error_text(const CLI::ParseError& error);

/// An example of a command line.
struct HelpExample {
  std::string command;  // `tbench report a.json`
  std::string what;     // what it does, as a phrase
};

/// Puts examples in front of the footer of a command's help.
void add_examples(CLI::App& command, const std::vector<HelpExample>& examples);

}  // namespace tbench::render
