#include "hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::tool {
namespace {

/// Names of other programs for flags of tbench. A flag counts only for commands that have it.
constexpr std::array kFlags{FlagSynonym{"days", "--nights"},
                            FlagSynonym{"runs", "--nights"},
                            FlagSynonym{"last", "--nights"},
                            FlagSynonym{"history", "--db"},
                            FlagSynonym{"database", "--db"},
                            FlagSynonym{"threshold", "--tau"},
                            FlagSynonym{"tolerance", "--tau"},
                            FlagSynonym{"timeout", "--wait"},
                            FlagSynonym{"md", "--markdown"},
                            FlagSynonym{"html", "--output"},
                            FlagSynonym{"out", "--output"},
                            FlagSynonym{"new", "--to"},
                            FlagSynonym{"against", "--to"},
                            FlagSynonym{"cost", "--price"},
                            FlagSynonym{"group_by", "--pivot"},
                            FlagSynonym{"columns", "--pivot"},
                            FlagSynonym{"metric", "--show"},
                            FlagSynonym{"table", "--study"},
                            FlagSynonym{"benchmark_filter", "--filter"},
                            FlagSynonym{"case", "--filter"},
                            FlagSynonym{"verbose", "--all"},
                            FlagSynonym{"full", "--all"},
                            FlagSynonym{"fail", "--strict"},
                            FlagSynonym{"werror", "--strict"},
                            FlagSynonym{"xml", "--junit"},
                            FlagSynonym{"limit", "--nights"},
                            FlagSynonym{"v", "--version"}};

/// Names of other programs for commands of tbench.
constexpr std::array kCommands{
    std::pair{"compare", "diff"},  std::pair{"cmp", "diff"},        std::pair{"show", "report"},
    std::pair{"print", "report"},  std::pair{"view", "report"},     std::pair{"table", "report"},
    std::pair{"html", "report"},   std::pair{"plot", "report"},     std::pair{"study", "report"},
    std::pair{"join", "merge"},    std::pair{"combine", "merge"},   std::pair{"concat", "merge"},
    std::pair{"check", "gate"},    std::pair{"judge", "gate"},      std::pair{"verify", "gate"},
    std::pair{"regress", "gate"},  std::pair{"log", "history"},     std::pair{"trend", "history"},
    std::pair{"trace", "profile"}, std::pair{"flame", "profile"},   std::pair{"nsight", "nsys"},
    std::pair{"sqlite", "nsys"},   std::pair{"gpus", "fleet"},      std::pair{"machines", "fleet"},
    std::pair{"noise", "spreads"}, std::pair{"times", "durations"}, std::pair{"kernels", "classify"},
    std::pair{"delta", "diff"},    std::pair{"stats", "report"},    std::pair{"summary", "report"},
    std::pair{"list", "report"},   std::pair{"help", "--help"},     std::pair{"version", "--version"}};

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string flag_hint(std::span<const std::string> unknown, const CLI::App& command) {
  const std::string& word = unknown.front();
  const std::size_t equals = word.find('=');
  const std::vector<std::string> flags = flags_of(command);
  std::vector<FlagSynonym> synonyms;
  std::ranges::copy_if(kFlags, std::back_inserter(synonyms), [&](const FlagSynonym& synonym) {
    return std::ranges::find(flags, synonym.flag) != flags.end();
  });
  const std::optional<std::string> flag = suggest_flag(word.substr(0, equals), flags, synonyms);
  if (!flag) return "";
  const CLI::Option* const option = command.get_option_no_throw(*flag);
  const bool takes_value = option != nullptr && option->get_items_expected_min() > 0;
  if (!takes_value) return did_you_mean_text(*flag);
  if (equals != std::string::npos) return did_you_mean_text(*flag + word.substr(equals));
  const bool has_value = unknown.size() > 1 && !unknown[1].starts_with('-');
  return did_you_mean_text(has_value ? fmt::format("{}={}", *flag, unknown[1]) : *flag);
}

std::string command_hint(const std::string& typed, std::span<const std::string> commands) {
  const auto synonym =
      std::ranges::find(kCommands, std::string_view{typed}, &std::pair<const char*, const char*>::first);
  if (synonym != kCommands.end()) return did_you_mean_text(synonym->second);
  const std::optional<std::string> command = suggest_value(typed, commands);
  return command ? did_you_mean_text(*command) : did_you_mean(typed, commands);
}

std::optional<std::string> explain_number(const CLI::ParseError& error) {
  constexpr std::string_view kBegin = "Could not convert: ";
  const std::string text = error.what();
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kBegin) || equals == std::string::npos) return std::nullopt;
  const std::string flag = text.substr(kBegin.size(), equals - kBegin.size());
  const std::string value = text.substr(equals + 3);
  const std::size_t digits = std::min(value.find_first_not_of("0123456789"), value.size());
  const std::optional<std::int64_t> count = parse_integer(value.substr(0, digits));
  return fmt::format("{}: '{}' is not a number{}", flag, value, count ? did_you_mean_text(std::to_string(*count)) : "");
}

CLI::Validator number_of(const char* unit, bool (*fits)(double), const char* otherwise) {
  return {[unit, fits, otherwise](std::string& text) {
            double value{};
            if (CLI::detail::lexical_cast(text, value)) {
              return fits(value) ? std::string{} : fmt::format("{} {}", text, otherwise);
            }
            std::optional<double> meant = seconds_in(text);
            if (text.ends_with('%') && CLI::detail::lexical_cast(text.substr(0, text.size() - 1), value)) meant = value;
            if (!meant || !fits(*meant)) return fmt::format("'{}' {}", text, otherwise);
            return fmt::format("'{}' is not {}{}", text, unit, did_you_mean_text(fmt::format("{:g}", *meant)));
          },
          ""};
}

void check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings,
                  const std::string& remedy) {
  std::string ending = std::filesystem::path{path}.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending.empty() || std::ranges::find(endings, ending) != endings.end()) return;
  throw UsageError{fmt::format("{} {}: the command does not write '{}'; give a name that ends in {}{}", flag, path,
                               ending, endings.front(), remedy.empty() ? "" : ", or " + remedy)};
}

}  // namespace tbench::tool
