#include "results/journal.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::results {
namespace {

constexpr std::string_view kMark = " #";
constexpr std::size_t kDigits = 8;

struct Line {
  std::string_view text;                  // JSON without its checksum
  std::optional<std::uint32_t> checksum;  // absent if the line has none
};

Line line_of(std::string_view line) {
  if (line.size() < kMark.size() + kDigits) return {line, {}};
  const std::string_view digits = line.substr(line.size() - kDigits);
  const std::string_view before = line.substr(0, line.size() - kDigits);
  std::uint32_t checksum{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + kDigits, checksum, 16);
  if (!before.ends_with(kMark) || error != std::errc{} || end != digits.data() + kDigits) return {line, {}};
  return {before.substr(0, before.size() - kMark.size()), checksum};
}

std::uint32_t checksum_of(std::string_view text) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// Returns the JSON of a line, or nullopt if the line is torn.
/// @param is_checked  whether the journal's lines have checksums
/// @throws            std::runtime_error  if the line contradicts its checksum, naming `where`, or is nested too deeply
std::optional<Json> value_of(const Line& line, bool is_checked, const std::string& where) {
  check_nesting(line.text);
  Json json = Json::parse(line.text, nullptr, false);
  if (json.is_discarded() || (is_checked && !line.checksum)) return std::nullopt;
  if (!line.checksum || *line.checksum == checksum_of(line.text)) return json;
  throw std::runtime_error{
      fmt::format("{} was changed after it was written: its checksum is {:08x}, that of its text "
                  "{:08x}",
                  where, *line.checksum, checksum_of(line.text))};
}

/// Collects the run of a journal, line by line.
struct Run {
  std::optional<ResultFile> file;  // absent before the header
  std::int64_t version{};          // schema version of the journal

  void add(const Json& json, const std::string& where) {
    if (!file) {
      file = header_from_json(json, where);
      version = schema_version_of(json);
      return;
    }
    Record record = record_from_json(json, where);
    check_record(record, where, version);
    check_machine(record, file->environment, where);
    merge(file->records, std::move(record));
  }
};

}  // namespace

bool has_journal(const std::string& path) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(journal_path(path), missing);
  return !missing && size > 0;
}

std::string journal_line(const Json& json) {
  const std::string text = compact(json);
  return fmt::format("{}{}{:08x}", text, kMark, checksum_of(text));
}

std::optional<ResultFile> read_journal(const std::string& path) {
  const std::string content = read_whole_file(path);
  std::vector<std::string> lines = split(after_byte_order_mark(content), '\n');
  lines.pop_back();  // after the last newline: empty, or the start of a torn line
  Run run;
  bool is_checked = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line line = line_of(lines[i]);
    if (!run.file) is_checked = line.checksum.has_value();
    try {
      const std::string where = fmt::format("line {}", i + 1);
      const std::optional<Json> json = value_of(line, is_checked, where);
      if (!json && i + 1 == lines.size()) break;  // the machine died while it wrote the last line
      if (!json) refuse_journal(path, where + " is torn");
      run.add(*json, where);
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      refuse_journal(path, error.what());
    }
  }
  return run.file;
}

void refuse_journal(const std::string& path, const std::string& problem) {
  throw UsageError{fmt::format("'{}': {}; remove it to go on without its records", path, problem)};
}

void merge(std::vector<Record>& records, Record record) {
  const auto found = std::ranges::find_if(records, [&](const Record& other) {
    return other.id == record.id && other.repetition_index == record.repetition_index;
  });
  if (found == records.end()) {
    records.push_back(std::move(record));
  } else {
    *found = std::move(record);
  }
}

}  // namespace tbench::results
