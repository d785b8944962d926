#include "outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "command_line.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::tool {
namespace {

struct Format {
  std::string_view ending;
  std::string_view flag;  // empty: no flag prints it
  std::string_view name;
};

constexpr std::array kFormats{Format{".html", "", "HTML"},        Format{".md", "--markdown", "Markdown"},
                              Format{".csv", "--csv", "CSV"},     Format{".json", "--json", "JSON"},
                              Format{".tex", "--latex", "LaTeX"}, Format{".xml", "", "XML"}};

std::string_view name_of(std::string_view ending) {
  const auto found = std::ranges::find(kFormats, ending, &Format::ending);
  return found == kFormats.end() ? ending : found->name;
}

/// Returns what to do for a format that the output does not have.
std::string remedy_for(const std::string& ending, const Output& output) {
  const std::string_view flag = format_flag(ending);
  if (flag.empty() || std::ranges::find(output.formats, flag) == output.formats.end()) return "";
  return fmt::format("for {} use {} > {}", name_of(ending), flag, output.path);
}

/// Returns the endings of known formats in words: `.html, .md or .csv`.
std::string endings_text(const std::vector<std::string>& endings) {
  std::vector<std::string> shown;
  std::ranges::copy_if(endings, std::back_inserter(shown), [](const std::string& ending) {
    return std::ranges::find(kFormats, ending, &Format::ending) != kFormats.end();
  });
  const std::string last = shown.back();
  shown.pop_back();
  return shown.empty() ? last : fmt::format("{} or {}", join(shown, ", "), last);
}

void check_ending(const Output& output) {
  const std::string ending = ending_of(output.path);
  const auto& endings = output.endings;
  if (ending.empty() || endings.empty() || std::ranges::find(endings, ending) != endings.end()) return;
  const std::string remedy = remedy_for(ending, output);
  throw UsageError{fmt::format("{} {}: writes {}; {}", output.flag, output.path, name_of(endings.front()),
                               remedy.empty() ? "give a name that ends in " + endings_text(endings) : remedy)};
}

void check_inputs(const Output& output, std::span<const std::string> inputs) {
  if (output.path.empty()) return;
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (!std::filesystem::equivalent(input, output.path, missing)) continue;
    throw UsageError{fmt::format("{}: '{}' is one of the inputs. Give another name.", output.flag, output.path)};
  }
  results::refuse_locked(output.path, output.flag);
}

}  // namespace

std::string_view format_flag(std::string_view ending) {
  const auto found = std::ranges::find(kFormats, ending, &Format::ending);
  return found == kFormats.end() ? "" : found->flag;
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path{path}.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

void check_no_input(const Output& output, std::span<const std::string> inputs) {
  check_inputs(output, inputs);
  check_ending(output);
}

void check_output(const Output& output, std::span<const std::string> inputs) {
  check_inputs(output, inputs);
  const std::string_view lost = measurements_in(output.path);
  if (!lost.empty()) {
    throw UsageError{
        fmt::format("{}: '{}' holds {}, which would be lost. Give another name.", output.flag, output.path, lost)};
  }
  check_ending(output);
}

void check_folder_name(const Output& output) {
  const std::string ending = ending_of(output.path);
  if (std::ranges::find(kFormats, ending, &Format::ending) == kFormats.end()) return;
  const std::string remedy = remedy_for(ending, output);
  throw UsageError{fmt::format("{} {}: writes a folder; {}", output.flag, output.path,
                               remedy.empty() ? "give a name without " + ending : remedy)};
}

void write_output(const std::string& flag, const std::string& path, const std::string& content) {
  try {
    results::write_atomically(path, content);
  } catch (const results::WriteError& error) {
    throw UsageError{fmt::format("{}: {}", flag, error.what())};
  }
}

}  // namespace tbench::tool
