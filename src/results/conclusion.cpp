#include "tbench/results/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::results {
namespace {

/// The version of the documents. It rises if a key is removed or changes its meaning, but not if a key is added.
constexpr int kVersion = 2;

/// Options whose flag is `--tb_NAME=VALUE`, as results files record them.
constexpr std::array<const char*, 9> kPlainOptions{"suite",  "study",   "ceilings", "verify", "memory_limit",
                                                   "warmup", "samples", "trace",    "isolate"};

/// How the smoke suite verifies, as results files record it. --tb_suite=smoke implies it, and no flag selects it.
constexpr std::string_view kVerifyOfSmoke = "twice one case per family";

/// The values that transformer_bench records if the user gives none.
constexpr const char* kDefaultSeed = "1";
constexpr const char* kEveryCase = ".";

constexpr const char* kTraceFlag = "--tb_trace=on";

bool is_plain(char letter) {
  constexpr std::string_view kOthers{"_-./:=,+@%"};
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || kOthers.find(letter) != std::string_view::npos;
}

/// Returns the part of `key` after `prefix`, or an empty text if the key does not begin with it.
std::string rest_of(const std::string& key, std::string_view prefix) {
  return key.starts_with(prefix) ? key.substr(prefix.size()) : "";
}

}  // namespace

Json concluded(const std::string& kind, const Conclusion& conclusion, Json rest) {
  Json document{{"schema", fmt::format("tbench.{}/{}", kind, kVersion)},
                {"outcome", conclusion.outcome},
                {"why", conclusion.why},
                {"next", conclusion.next.empty() ? Json() : Json(conclusion.next)}};
  for (auto& [key, value] : rest.items()) document[key] = std::move(value);
  return document;
}

std::string quoted(std::string_view text) {
  std::string word{"'"};
  for (const char letter : text) word += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  return word + "'";
}

std::string command_line(std::span<const std::string> words) {
  std::vector<std::string> shown;
  for (const std::string& word : words) {
    shown.push_back(!word.empty() && std::ranges::all_of(word, is_plain) ? word : results::quoted(word));
  }
  return join(shown, " ");
}

std::string exact_filter(std::span<const std::string> names) {
  std::vector<std::string> escaped;
  for (const std::string& name : names) escaped.push_back(escape_regex(name));
  return escaped.size() == 1 ? fmt::format("^{}$", escaped.front()) : fmt::format("^({})$", join(escaped, "|"));
}

std::vector<UsedPlugin> used_plugins(const Environment& environment) {
  std::vector<UsedPlugin> plugins;
  for (const auto& [key, version] : environment.versions) {
    const std::string name = rest_of(key, "plugin.");
    if (!name.empty()) plugins.push_back({.name = name, .file = version.substr(0, version.rfind(" sha256:"))});
  }
  return plugins;
}

RunFlags run_flags(const ResultFile& header) {
  std::vector<std::string> words;
  for (const char* name : kPlainOptions) {
    const auto option = header.options.find(name);
    if (option == header.options.end() || option->second == kVerifyOfSmoke) continue;
    words.push_back(fmt::format("--tb_{}={}", name, option->second));
  }
  for (const UsedPlugin& plugin : used_plugins(header.environment)) words.push_back("--tb_plugin=" + plugin.file);
  for (const auto& [key, value] : header.options) {
    if (const std::string axis = rest_of(key, "axis."); !axis.empty()) {
      words.push_back(fmt::format("--tb_axis={}={}", axis, value));
    }
    if (const std::string size = rest_of(key, "size."); !size.empty()) {
      words.push_back(fmt::format("--tb_size={}:{}", size, value));
    }
  }
  const auto value_of = [&](const char* name, const char* otherwise) {
    const auto option = header.options.find(name);
    return option == header.options.end() ? std::string{otherwise} : option->second;
  };
  if (value_of("l2", "cold") == "warm") words.emplace_back("--tb_l2=warm");
  if (const std::string seed = value_of("seed", kDefaultSeed); seed != kDefaultSeed)
    words.push_back("--tb_seed=" + seed);
  const std::string& clocks = header.environment.clock_policy;
  if (!clocks.empty() && clocks != "default") words.push_back("--tb_clock_policy=" + clocks);
  const std::string filter = value_of("filter", kEveryCase);
  return {.of_all = command_line(words), .filter = filter == kEveryCase ? "" : filter};
}

std::string flags_for(const RunFlags& run, std::span<const std::string> names) {
  const bool is_named = !names.empty() && names.size() <= kMaxNamed;
  const std::string filter = is_named ? exact_filter(names) : run.filter;
  return fmt::format("{}{}{}{}", run.of_all.empty() ? "" : " ", run.of_all,
                     filter.empty() ? "" : " --benchmark_filter=", filter.empty() ? "" : results::quoted(filter));
}

std::string profile_command(const std::string& program, const RunFlags& run, const std::string& name) {
  return fmt::format("{}{} --tb_profile=profile && tbench profile profile", program, flags_for(run, {&name, 1}));
}

std::string trace_command(const RunFlags& run, std::span<const std::string> names) {
  const bool is_traced = run.of_all.find(kTraceFlag) != std::string::npos;  // a repeated flag would be refused
  return fmt::format("transformer_bench{}{}{} --benchmark_out=traced.json && tbench report --limits traced.json",
                     flags_for(run, names), is_traced ? "" : " ", is_traced ? "" : kTraceFlag);
}

std::string limits_command(const std::string& path, const std::string& name) {
  const std::vector<std::string> words{"tbench", "report", "--limits", path, "--filter=" + exact_filter({&name, 1})};
  return command_line(words);
}

std::string isolate_command(const std::string& program, const RunFlags& run, std::span<const std::string> names) {
  static constexpr std::string_view kGiven = " --tb_isolate=";  // a repeated flag would be refused
  static constexpr std::string_view kValue = "case";            // the other value, `none`, has the same length
  std::string flags = flags_for(run, names);
  if (const std::size_t at = flags.find(kGiven); at != std::string::npos)
    flags.erase(at, kGiven.size() + kValue.size());
  return fmt::format("{}{}{}{}", program, flags, kGiven, kValue);
}

}  // namespace tbench::results
