#include "tbench/results/experiments.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

constexpr std::string_view kHeader = "date,commit,gpu,kernel,change,shape,before_us,after_us,kept,reason,source";
enum Place : std::size_t {
  kDate,
  kCommit,
  kGpu,
  kKernel,
  kChange,
  kShape,
  kBefore,
  kAfter,
  kKept,
  kReason,
  kColumns = 11
};

/// A row of the file; `line` is the line, from 1, in which it begins.
struct Row {
  std::size_t line{};
  std::vector<std::string> cells;
};

[[noreturn]] void refuse(const std::string& name, std::size_t line, const std::string& problem) {
  throw UsageError{
      fmt::format("'{}', line {}: {}; give a table like src/kernels/experiments.csv", name, line, problem)};
}

/// Takes one row off the front of `text`. A quoted cell may hold commas, line breaks and doubled quotes.
/// @param line  line of the row; afterwards the line after it
Row take_row(std::string_view& text, std::size_t& line, const std::string& name) {
  Row row{.line = line, .cells = {""}};
  bool is_quoted = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_quoted || text[i] != '\n'); ++i) {
    if (text[i] == '\n') ++line;
    const bool is_doubled = is_quoted && text.substr(i, 2) == R"("")";
    if (text[i] == '"' && !is_doubled) {
      is_quoted = !is_quoted;
    } else if (text[i] == ',' && !is_quoted) {
      row.cells.emplace_back();
    } else if (text[i] != '\r' || is_quoted) {
      row.cells.back() += text[i];
      if (is_doubled) ++i;
    }
  }
  if (is_quoted) refuse(name, row.line, "a quote is not closed");
  text.remove_prefix(std::min(i + 1, text.size()));
  ++line;
  return row;
}

std::optional<Seconds> microseconds(const Row& row, Place place, const std::string& name) {
  const std::string& text = row.cells[place];
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
    refuse(name, row.line, fmt::format("'{}' is not a time in microseconds", text));
  }
  constexpr double kPerSecond = 1e6;
  return Seconds{value / kPerSecond};
}

std::string date_of(const Row& row, const std::string& name) {
  const std::string& text = row.cells[kDate];
  if (!parse_timestamp(text + "T00:00:00Z"))
    refuse(name, row.line, fmt::format("'{}' is not a date like 2026-11-23", text));
  return text;
}

std::optional<bool> kept(const Row& row, const std::string& name) {
  const std::string& text = row.cells[kKept];
  if (text.empty()) return std::nullopt;
  if (text != "yes" && text != "no") refuse(name, row.line, fmt::format("kept is '{}', not yes, no or nothing", text));
  return text == "yes";
}

}  // namespace

std::vector<Experiment> parse_experiments(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  const std::string_view header = text.substr(0, text.find_first_of("\r\n"));
  if (header != kHeader) refuse(name, line, fmt::format("the columns are not {}", kHeader));
  static_cast<void>(take_row(text, line, name));
  std::vector<Experiment> experiments;
  while (!text.empty()) {
    const Row row = take_row(text, line, name);
    const std::vector<std::string>& cells = row.cells;
    if (cells.size() != kColumns)
      refuse(name, row.line, fmt::format("{} cells instead of {}", cells.size(), +kColumns));
    experiments.push_back({.date = date_of(row, name),
                           .commit = cells[kCommit],
                           .gpu = cells[kGpu],
                           .kernel = cells[kKernel],
                           .change = cells[kChange],
                           .shape = cells[kShape],
                           .before = microseconds(row, kBefore, name),
                           .after = microseconds(row, kAfter, name),
                           .was_kept = kept(row, name),
                           .reason = cells[kReason]});
  }
  return experiments;
}

std::vector<Experiment> read_experiments(const std::string& path) { return parse_experiments(read_text(path), path); }

}  // namespace tbench::results
