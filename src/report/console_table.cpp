#include "tbench/report/console_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/report/number_format.hpp"
#include "tbench/report/summary.hpp"

namespace tbench::report {
namespace {

constexpr std::string_view kGap = "  ";

/// Room for what each summary column may hold; rows arrive one by one, so it cannot be taken from them.
constexpr std::array<std::size_t, 8> kWidths{11, 10, 6, 12, 8, 6, 9, 5};

std::string_view colour_of(Status status) {
  if (is_failure(status)) return "\x1b[31m";
  return status == Status::kOk ? "\x1b[32m" : "\x1b[33m";
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void ConsoleTable::header() {
  const std::vector<Column> columns = summary_columns();
  std::string line = pad("case", options_.name_width, Align::kLeft);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    line += fmt::format("{}{}", kGap, pad(columns[i].header, kWidths.at(i), columns[i].align));
  }
  fmt::print(out_, "{}\n{}\n", trimmed(line), std::string(display_width(line), '-'));
  has_header_ = true;
}

void ConsoleTable::row(const Record& record) {
  if (!has_header_) header();
  const std::vector<Column> columns = summary_columns();
  const std::vector<std::string> cells = summary_cells(record);
  std::string line = pad(record.id.name(), options_.name_width, Align::kLeft);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_reason = !record.timing && i + 1 == cells.size();
    std::string cell = is_reason ? one_line(cells[i]) : pad(cells[i], kWidths.at(i), columns[i].align);
    if (i == 0 && options_.colour) cell = fmt::format("{}{}\x1b[0m", colour_of(record.status), cell);
    line += fmt::format("{}{}", kGap, cell);
  }
  if (const std::string note = note_of(record); !note.empty()) line += fmt::format("{}{}", kGap, one_line(note));
  fmt::print(out_, "{}\n", trimmed(std::move(line)));
  std::fflush(out_);
  ++counts_[record.status];
}

void ConsoleTable::summary(Seconds elapsed, const std::optional<std::string>& path) {
  std::size_t total = 0;
  std::string parts;
  for (const auto& [status, count] : counts_) {
    parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, to_string(status));
    total += count;
  }
  const std::string place = path ? fmt::format("; results in {}", *path) : "";
  fmt::print(out_, "\n{} case{}{}{}; {}\n", total, total == 1 ? "" : "s", parts, place, format_duration(elapsed));
  std::fflush(out_);
}

}  // namespace tbench::report
