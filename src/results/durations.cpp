#include "tbench/results/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "results/duration_source.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::results {
namespace {

constexpr std::string_view kColumns = "case,seconds,status";
constexpr std::string_view kFormat = "1";
constexpr std::string_view kReferenceGpu = "NVIDIA H100 80GB HBM3";
constexpr const char* kRemedy = "Write the table again with 'tbench durations FILES -o FILE'.";
/// The keys in which a similar case may differ, the most similar cases first.
constexpr std::array<std::string_view, 4> kNearestFirst{"precision", "pass", "ctx", "impl"};

std::string short_sha256(std::string_view text) {
  constexpr std::size_t kBytes = 6;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error{"libcrypto has no SHA-256"};
  }
  std::string digits;
  for (std::size_t i = 0; i < kBytes; ++i) digits += fmt::format("{:02x}", digest.at(i));
  return digits;
}

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
  throw UsageError{fmt::format("{}: {}. {}", where, problem, kRemedy)};
}

/// Returns the value of a key of the header.
/// @throws  UsageError  naming the missing line, if the header has no such key
std::string header_value(const std::map<std::string, std::string>& header, const std::string& key,
                         std::string_view name) {
  const auto found = header.find(key);
  if (found == header.end()) refuse(fmt::format("'{}'", name), fmt::format("the line '# {}: ...' is missing", key));
  return found->second;
}

void add_header_line(std::map<std::string, std::string>& header, std::string_view line, const std::string& where) {
  constexpr std::array<std::string_view, 5> kKeys{"format", "gpu", "memory_bytes", "builds", "files"};
  const std::size_t colon = line.find(": ");
  const std::string_view key = line.substr(0, colon).substr(std::min<std::size_t>(2, line.size()));
  const bool is_known = std::ranges::find(kKeys, key) != kKeys.end();
  if (!line.starts_with("# ") || colon == std::string_view::npos || !is_known) {
    refuse(where, fmt::format("'{}' is not a header line (# KEY: VALUE with one of {})", line, fmt::join(kKeys, ", ")));
  }
  if (!header.emplace(key, line.substr(colon + 2)).second) refuse(where, fmt::format("'{}' is there twice", key));
}

Seconds median_of(std::vector<double> seconds) { return {stats::median(seconds)}; }

/// Returns the only key in which the two cases differ, which one of them may lack. Returns an empty text if they differ
/// in no key or in several.
std::string_view only_difference(const CaseId& a, const CaseId& b) {
  std::string_view found;
  const auto differs = [&](std::string_view key) {
    const bool is_first = found.empty();
    found = is_first ? key : std::string_view{};
    return is_first;
  };
  for (const auto& [key, value] : a.parameters()) {
    const std::string* const other = b.find(key);
    if ((other == nullptr || *other != value) && !differs(key)) return {};
  }
  for (const auto& [key, value] : b.parameters()) {
    if (a.find(key) == nullptr && !differs(key)) return {};
  }
  return found;
}

}  // namespace

void DurationTable::add_row(std::string_view line, const std::string& where) {
  const std::size_t status_comma = line.rfind(',');
  const std::size_t seconds_comma = status_comma == std::string_view::npos || status_comma == 0
                                        ? std::string_view::npos
                                        : line.rfind(',', status_comma - 1);
  if (seconds_comma == std::string_view::npos) refuse(where, fmt::format("'{}' is not {}", line, kColumns));
  const std::string_view name = line.substr(0, seconds_comma);
  const std::string_view number = line.substr(seconds_comma + 1, status_comma - seconds_comma - 1);
  CaseId id;
  try {
    id = CaseId::parse(name);
  } catch (const std::invalid_argument& error) {
    refuse(where, error.what());
  }
  double seconds{};
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  const bool is_number = error == std::errc{} && end == number.data() + number.size();
  if (!is_number || !std::isfinite(seconds) || seconds < 0) {
    refuse(where, fmt::format("'{}' is not a number of seconds of at least 0", number));
  }
  const std::optional<Status> status = parse_enum<Status>(line.substr(status_comma + 1));
  if (!status) {
    refuse(where, fmt::format("'{}' is not one of {}", line.substr(status_comma + 1),
                              fmt::join(EnumNames<Status>::kNames, ", ")));
  }
  const CaseDuration duration{.time = {seconds}, .status = *status};
  if (!by_name_.emplace(name, duration).second) refuse(where, fmt::format("{} is there twice", name));
  Family& family = families_[id.family()];
  family.rows.push_back({.id = std::move(id), .duration = duration});
}

DurationTable DurationTable::parse(std::string_view text, std::string_view name) {
  DurationTable table;
  table.name_ = name;
  table.digest_ = short_sha256(text);
  std::map<std::string, std::string> header;
  bool has_columns = false;
  std::size_t number = 0;
  for (const std::string& whole : split(text, '\n')) {
    const std::string where = fmt::format("'{}', line {}", name, ++number);
    const std::string_view line = std::string_view{whole}.substr(0, whole.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    if (has_columns) {
      table.add_row(line, where);
    } else if (line == kColumns) {
      has_columns = true;
    } else {
      add_header_line(header, line, where);
    }
  }
  if (table.by_name_.empty()) refuse(fmt::format("'{}'", name), "it has no durations");
  if (const std::string format = header_value(header, "format", name); format != kFormat) {
    refuse(fmt::format("'{}'", name), fmt::format("format {} is not {}", format, kFormat));
  }
  table.gpu_ = header_value(header, "gpu", name);
  const std::string memory = header_value(header, "memory_bytes", name);
  table.memory_bytes_ = parse_integer(memory).value_or(0);
  if (table.memory_bytes_ <= 0) {
    refuse(fmt::format("'{}'", name), fmt::format("memory_bytes: '{}' is not a positive whole number", memory));
  }
  table.finish();
  return table;
}

/// Removes the rows without a time from each family that has other rows, and computes the medians.
void DurationTable::finish() {
  const auto has_no_time = [](const Row& row) { return !has_time(row.duration.status); };
  std::vector<double> all;
  for (auto& [name, family] : families_) {
    if (!std::ranges::all_of(family.rows, has_no_time)) std::erase_if(family.rows, has_no_time);
    std::vector<double> seconds;
    for (const Row& row : family.rows) seconds.push_back(row.duration.time.value);
    all.insert(all.end(), seconds.begin(), seconds.end());
    family.median = median_of(std::move(seconds));
  }
  median_ = median_of(std::move(all));
}

std::string DurationTable::label() const {
  const std::string_view file = std::string_view{name_}.substr(name_.rfind('/') + 1);  // npos + 1 is 0
  return fmt::format("{}@{}", file.substr(0, file.rfind('.')), digest_);
}

const CaseDuration* DurationTable::find(const CaseId& id) const {
  const auto found = by_name_.find(id.name());
  return found == by_name_.end() ? nullptr : &found->second;
}

std::optional<Seconds> DurationTable::neighbours_median(const CaseId& id) const {
  const auto family = families_.find(id.family());
  if (family == families_.end()) return std::nullopt;
  std::map<std::string_view, std::vector<double>> by_key;
  std::vector<double> all;
  for (const Row& row : family->second.rows) {
    const std::string_view key = only_difference(id, row.id);
    if (key.empty()) continue;
    by_key[key].push_back(row.duration.time.value);
    all.push_back(row.duration.time.value);
  }
  for (const std::string_view key : kNearestFirst) {
    if (const auto found = by_key.find(key); found != by_key.end()) return median_of(found->second);
  }
  if (!all.empty()) return median_of(std::move(all));
  return family->second.median;
}

DurationEstimate DurationTable::estimate(const CaseId& id) const {
  if (const CaseDuration* const own = find(id)) return {.time = own->time, .is_measured = true};
  return {.time = neighbours_median(id).value_or(median_), .is_measured = false};
}

std::span<const DurationTable> built_in_durations() {
  static const std::vector<DurationTable> kTables = [] {
    std::vector<DurationTable> tables;
    for (const EmbeddedFile& file : duration_files()) tables.push_back(DurationTable::parse(file.content, file.name));
    return tables;
  }();
  return kTables;
}

const DurationTable* find_built_in_durations(std::string_view gpu) {
  const std::span<const DurationTable> tables = built_in_durations();
  const auto found = std::ranges::find(tables, gpu, &DurationTable::gpu);
  return found == tables.end() ? nullptr : &*found;
}

const DurationTable& reference_durations() {
  const DurationTable* const table = find_built_in_durations(kReferenceGpu);
  if (table == nullptr) throw std::logic_error{fmt::format("no built-in durations of an {}", kReferenceGpu)};
  return *table;
}

}  // namespace tbench::results
