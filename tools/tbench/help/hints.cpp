#include "hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "outputs.hpp"
#include "synonyms.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::tool {
namespace {

using Names = std::vector<std::string>;

constexpr std::array kFormatFlags{"--json", "--csv", "--markdown", "--latex", "--output"};

Names flags_of(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns the rows whose flag or argument the command has.
std::vector<FlagSynonym> of_command(std::span<const FlagSynonym> rows, const CLI::App& command) {
  std::vector<FlagSynonym> own;
  std::ranges::copy_if(rows, std::back_inserter(own), [&](const FlagSynonym& row) {
    return command.get_option_no_throw(std::string{row.flag}) != nullptr;
  });
  return own;
}

/// Returns the value in the form that an option takes, or nullopt if it does not take the value.
std::optional<std::string> fitting(const std::string& value, const std::string& type) {
  if (type == "FILE.html") return ending_of(value).starts_with(".htm") ? std::optional{value} : std::nullopt;
  if (type != "N" && type != "S" && type != "PERCENT") return value;
  const std::optional<std::int64_t> count = count_in(value);
  if (type == "N") return count && *count > 0 ? std::optional{std::to_string(*count)} : std::nullopt;
  const std::optional<double> number = type == "S" ? seconds_in(value) : percent_in(value);
  const bool may_be_share = type == "PERCENT" && number && *number < 1;  // a threshold of 0.05 may be 5 %
  return number && !may_be_share ? std::optional{fmt::format("{:g}", *number)} : std::nullopt;
}

/// Returns the suggestion of a flag with the typed value, or with the name of its value if that does not fit.
std::string with_value(const std::string& flag, const TypedFlag& typed, const CLI::App& command) {
  const CLI::Option* const option = command.get_option_no_throw(flag);
  const bool takes_value = option != nullptr && option->get_items_expected_min() > 0;
  if (!takes_value) return did_you_mean_text(flag);
  const std::string type = option->get_type_name();
  const std::optional<std::string> value = typed.value.empty() ? std::nullopt : fitting(typed.value, type);
  return did_you_mean_text(fmt::format("{}={}", flag, value.value_or(type)));
}

/// Returns the formats that a command writes: `; formats: --json, --output=FILE.html`.
std::string formats_text(const CLI::App& command) {
  Names formats;
  for (const char* const flag : kFormatFlags) {
    const CLI::Option* const option = command.get_option_no_throw(flag);
    if (option == nullptr) continue;
    const bool takes_value = option->get_items_expected_min() > 0;
    formats.push_back(takes_value ? fmt::format("{}={}", flag, option->get_type_name()) : flag);
  }
  return formats.empty() ? "" : "; formats: " + join(formats, ", ");
}

/// Answers `--format=csv` and the flag of a format.
std::string format_hint(const TypedFlag& typed, const CLI::App& command) {
  const Names formats{kFormatFlags.begin(), kFormatFlags.end()};
  const std::optional<std::string> flag = recognise_flag(typed.name, formats, format_synonyms());
  if (!flag) return "";
  if (*flag != "--format") return formats_text(command);
  const std::optional<std::string> meant = recognise_flag("--" + typed.value, flags_of(command), format_synonyms());
  const bool is_there = meant && command.get_option_no_throw(*meant) != nullptr;
  return is_there ? with_value(*meant, {.name = *meant, .value = {}}, command) : formats_text(command);
}

/// Answers `-o FILE` for a command that prints its output.
std::string output_hint(const TypedFlag& typed, const CLI::App& command) {
  const Names output{"--output"};
  const bool is_output = typed.name == "-o" || recognise_flag(typed.name, output, flag_synonyms()) == output.front();
  if (!is_output) return "";
  const std::string ending = ending_of(typed.value);
  const std::string flag{format_flag(ending)};
  if (!flag.empty() && command.get_option_no_throw(flag) != nullptr) {
    return did_you_mean_text(fmt::format("{} > {}", flag, typed.value));
  }
  if (ending == ".html" && command.get_name() == "diff") {
    return did_you_mean_text("tbench report BASE NEW -o " + typed.value);
  }
  return formats_text(command);
}

/// Answers a flag that another command has.
std::string other_command_hint(const std::string& name, const CLI::App& command, const CLI::App& program) {
  const bool asks_version = name == "--version" || name == "-v" || name == "-V";
  if (asks_version && &command != &program) return did_you_mean_text("tbench --version");
  Names owners;
  for (const CLI::App* other : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (other->get_option_no_throw(name) != nullptr) owners.push_back(fmt::format("'tbench {}'", other->get_name()));
  }
  constexpr std::size_t kMost = 3;
  if (owners.empty() || owners.size() > kMost) return "";
  return fmt::format("; {} {} it", join(owners, ", "), agreeing(owners.size(), "has", "have"));
}

}  // namespace

std::string flag_hint(std::span<const std::string> words, const CLI::App& command, const CLI::App& program) {
  const TypedFlag typed = typed_flag(words);
  const Names flags = flags_of(command);
  const std::vector<FlagSynonym> synonyms = of_command(flag_synonyms(), command);
  if (const auto flag = recognise_flag(typed.name, flags, synonyms)) return with_value(*flag, typed, command);
  const bool has_output = command.get_option_no_throw("-o") != nullptr;
  if (std::string hint = has_output ? "" : output_hint(typed, command); !hint.empty()) return hint;
  if (std::string hint = format_hint(typed, command); !hint.empty()) return hint;
  const std::vector<FlagSynonym> arguments = of_command(argument_synonyms(), command);
  if (const auto argument = recognise_flag(typed.name, {}, arguments)) {
    return fmt::format("; give {} without a flag", typed.value.empty() ? *argument : fmt::format("'{}'", typed.value));
  }
  if (std::string hint = other_command_hint(typed.name, command, program); !hint.empty()) return hint;
  const std::optional<std::string> flag = suggest_flag(typed.name, flags, synonyms);
  return flag ? with_value(*flag, typed, command) : "";
}

std::string command_hint(const std::string& typed, std::span<const std::string> commands) {
  Names known{commands.begin(), commands.end()};
  for (const auto& [name, command] : command_synonyms()) known.emplace_back(name);
  const std::optional<std::string> meant = suggest_value(typed, known);
  const auto synonym = std::ranges::find(command_synonyms(), std::string_view{meant.value_or("")},
                                         &std::pair<std::string_view, std::string_view>::first);
  return did_you_mean_text(synonym == command_synonyms().end() ? meant : std::string{synonym->second});
}

}  // namespace tbench::tool
