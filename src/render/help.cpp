#include "tbench/render/help.hpp"

#include <string_view>
#include <utility>

#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::render {
namespace {

constexpr std::size_t kNames = 28;  // columns of an option's name, with two spaces on each side
constexpr std::size_t kTexts = 30;  // the column in which the descriptions begin
constexpr std::size_t kMargin = 2;

/// Returns the lines of a text, wrapped, each ending in a newline. The spaces at the beginning of a line stay and
/// indent its further lines.
std::string wrapped(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    add_wrapped(lines, std::string(indent, ' '), std::string_view{line}.substr(indent), indent + kMargin, kHelpWidth);
  }
  return join(lines, "\n") + "\n";
}

/// Returns a name and its description in two columns.
std::string in_columns(const std::string& name, const std::string& description) {
  std::vector<std::string> lines;
  std::string begin = std::string(kMargin, ' ') + name;
  if (begin.size() > kNames) {
    lines.push_back(std::move(begin));
    begin.clear();
  }
  if (!description.empty()) {
    begin.resize(kTexts, ' ');
    add_wrapped(lines, std::move(begin), description, kTexts, kHelpWidth);
  } else if (!begin.empty()) {
    lines.push_back(std::move(begin));
  }
  return join(lines, "\n") + "\n";
}

/// Returns the type of an option's values without the parts that tell the user nothing: ` TEXT` of a positional
/// argument, and the check of a number, as in `N:INT in [1 - 9]`. `ENUM:on|off` becomes `on|off`.
std::string readable(std::string type, bool is_positional) {
  constexpr std::string_view kText = " TEXT";
  if (is_positional && type.starts_with(kText)) type.erase(0, kText.size());
  for (const std::string_view name : {" ENUM:", " BOOLEAN:"}) {
    if (type.starts_with(name)) type.erase(1, name.size() - 1);
  }
  const std::size_t range = type.find(" in [");
  const std::size_t check = type.rfind(':', range);
  const std::size_t end = type.find(']', range);
  if (range != std::string::npos && check != std::string::npos && end != std::string::npos) {
    type.erase(check, end + 1 - check);
  }
  return type;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  constexpr std::string_view kTwoEmptyLines = "\n\n\n";
  for (std::size_t place = 0; (place = text.find(kTwoEmptyLines, place)) != std::string::npos;) text.erase(place, 1);
  return text;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  const std::string text = CLI::Formatter::make_description(app);
  return text.empty() ? text : wrapped(text.substr(0, text.size() - 1));
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  const std::string text = CLI::Formatter::make_usage(app, std::move(name));
  return text.empty() ? text : wrapped(text.substr(0, text.size() - 1));
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const std::string text = app->get_footer();
  return text.empty() ? text : wrapped(text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return in_columns(command->get_display_name(true), command->get_description());
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return in_columns(make_option_name(option, is_positional) + readable(make_option_opts(option), is_positional),
                    make_option_desc(option));
}

std::string parse_error_text(const CLI::ParseError& error) {
  constexpr std::string_view kMiddle = ": 1 required ";
  constexpr std::string_view kEnd = " missing";
  const std::string text = error.what();
  const std::size_t middle = text.find(kMiddle);
  if (middle == std::string::npos || !text.ends_with(kEnd)) return text;
  const std::size_t begin = middle + kMiddle.size();
  const std::string type = text.substr(begin, text.size() - kEnd.size() - begin);
  return text.substr(0, middle) + ": no value; write " + text.substr(0, middle) + "=" +
         readable(" " + type, false).substr(1);
}

void add_examples(CLI::App& command, const std::vector<HelpExample>& examples) {
  std::string text = "Examples:";
  for (const HelpExample& example : examples) text += "\n  " + example.command + "\n      " + example.what;
  const std::string footer = command.get_footer();
  command.footer(footer.empty() ? text : text + "\n\n" + footer);
}

}  // namespace tbench::render
