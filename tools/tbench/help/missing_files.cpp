#include "missing_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "outputs.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::tool {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::string_view kQuotes = "'\"`";

bool is_there(const std::string& path) {
  std::error_code missing;
  return !path.empty() && fs::exists(path, missing);
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Splits a text at each `separator` and drops the spaces around the parts.
Names parts_of(const std::string& text, std::string_view separator) {
  Names parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(std::move(part));
    begin = end + separator.size();
  }
  return parts;
}

/// Returns several files that were joined into one argument, with spaces between them.
std::optional<std::string> files_in(const std::string& text) {
  constexpr std::array<std::string_view, 5> kSeparators{",", ";", "...", "..", ":"};
  for (const std::string_view separator : kSeparators) {
    const Names parts = parts_of(text, separator);
    if (parts.size() > 1 && std::ranges::all_of(parts, &is_there)) return join(parts, " ");
  }
  return std::nullopt;
}

/// Returns the file without quotation marks or a key before `=`, or with another ending or other capitals.
std::optional<std::string> file_like(const std::string& path) {
  std::string bare = path;
  std::erase_if(bare, [](char c) { return kQuotes.find(c) != std::string_view::npos; });
  std::string lower = fs::path{path}.filename().string();
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string stem = fs::path{bare}.replace_extension().string();
  const Names likely{bare,
                     bare.substr(bare.find('=') + 1),
                     bare + ".gz",
                     bare + ".json",
                     bare + ".json.gz",
                     stem,
                     stem + ".json",
                     stem + ".json.gz",
                     (fs::path{path}.parent_path() / lower).string()};
  const auto found = std::ranges::find_if(likely, [&](const std::string& name) {
    std::error_code missing;
    return name != path && fs::is_regular_file(name, missing);
  });
  return found == likely.end() ? std::nullopt : std::optional{*found};
}

/// Explains a word between files, as in `a.json vs b.json`, and the words of other command lines.
std::optional<std::string> explain_word(const std::string& word, const CLI::App& command, const CLI::App& program) {
  constexpr std::array<std::string_view, 10> kBetween{"vs",      "vs.", "and", "to", "with",
                                                      "against", "->",  "=>",  "/",  "|"};
  constexpr std::array<std::string_view, 7> kOfNsys{"export", "stats", "profile", "analyze", "start", "stop", "launch"};
  if (word == "help") return fmt::format("no file 'help'; did you mean 'tbench {} --help'?", command.get_name());
  if (is_one_of(word, kBetween)) return fmt::format("no file '{0}'; leave out '{0}'", word);
  if (command.get_name() == "nsys" && is_one_of(word, kOfNsys)) {
    return fmt::format("no file '{0}'; leave it out, or run nsys itself: 'nsys {0}'", word);
  }
  const auto is_word = [&](const CLI::App* other) { return other->get_name() == word; };
  if (!program.get_subcommands(is_word).empty()) {
    return fmt::format("no file '{0}'; '{0}' is another command: give one of the two", word);
  }
  const Names studies = studies::study_names();
  const bool takes_study = command.get_option_no_throw("--study") != nullptr;
  if (takes_study && std::ranges::find(studies, word) != studies.end()) {
    return fmt::format("no file '{0}'; did you mean '--study={0}'?", word);
  }
  return std::nullopt;
}

/// Explains `a.json --json b.json`, which means to write b.json. Without another file, b.json is a missing input.
std::optional<std::string> explain_output(const std::string& path, std::span<const std::string> words) {
  if (words.empty() || std::ranges::none_of(words.subspan(1), &is_there)) return std::nullopt;
  const std::string_view flag = format_flag(ending_of(path));
  const auto found = std::ranges::find(words, path);
  if (flag.empty() || found == words.end() || found == words.begin() || *(found - 1) != flag) return std::nullopt;
  return fmt::format("no file '{1}', and {0} takes no value; did you mean '{0} > {1}'?", flag, path);
}

}  // namespace

std::optional<std::string> explain_missing_file(const std::string& path, std::span<const std::string> words,
                                                const CLI::App& command, const CLI::App& program) {
  const auto place = std::ranges::find(words, path);
  const std::string before = place == words.begin() || place == words.end() ? "" : *(place - 1);
  const bool is_of_unknown_flag = before.starts_with('-') && command.get_option_no_throw(before) == nullptr;
  if (is_there(path) || is_of_unknown_flag) return std::nullopt;
  if (auto why = explain_word(path, command, program)) return why;
  if (auto why = explain_output(path, words)) return why;
  if (const Names names = parts_of(path, " "); names.size() > 1 && std::ranges::all_of(names, &is_there)) {
    return fmt::format("no file '{}'; quotation marks make one name of {}: leave them out", path, names.size());
  }
  const std::optional<std::string> several = files_in(path);
  if (const auto meant = several ? several : file_like(path)) {
    return fmt::format("no file '{}'{}", path, did_you_mean_text(meant));
  }
  if (path.find_first_of("*?") == std::string::npos) return std::nullopt;
  return fmt::format("no file '{}'; no name matches, or it stands in quotation marks", path);
}

}  // namespace tbench::tool
