#include "tbench/profile/memory_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::profile {
namespace {

constexpr std::string_view kHeader = "event,step,phase,range,address,bytes,allocated bytes";
constexpr std::size_t kColumns = 7;
constexpr std::int64_t kMaxDeviceBytes = std::int64_t{1} << 44;  // 16 TiB, more than any GPU has, per block and in all

/// Returns the cells of a line (RFC 4180), or nullopt if a quote is not closed.
std::optional<std::vector<std::string>> cells_of(std::string_view line) {
  std::vector<std::string> cells{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_double = line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (is_quoted && is_double) {
      cells.back() += '"';
      ++i;
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return is_quoted ? std::nullopt : std::optional{cells};
}

std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{address} : std::nullopt;
}

/// Parses a line as a row. Returns nullopt if it is not a row.
std::optional<MemoryRow> row_of(std::string_view line) {
  const std::optional<std::vector<std::string>> cells = cells_of(line);
  if (!cells || cells->size() != kColumns) return std::nullopt;
  const auto step = (*cells)[1].empty() ? std::optional<std::int64_t>{0} : parse_integer((*cells)[1]);
  const auto address = parse_address((*cells)[4]);
  const auto bytes = parse_integer((*cells)[5]);
  const auto allocated = parse_integer((*cells)[6]);
  if (!step || !address || !bytes || !allocated || *step < 0 || *allocated < 0) return std::nullopt;
  if (*bytes > kMaxDeviceBytes || *bytes < -kMaxDeviceBytes || *allocated > kMaxDeviceBytes) return std::nullopt;
  return MemoryRow{.step = *step,
                   .phase = (*cells)[2],
                   .range = (*cells)[3],
                   .address = *address,
                   .bytes = *bytes,
                   .allocated = *allocated};
}

/// Returns the name of a range's band, such as `FORWARD/layer.*/ffn` for `FORWARD/layer.3/ffn`.
std::string band_name(const std::string& range) {
  if (range.empty()) return "(no range)";
  std::vector<std::string> parts = split(range, '/');
  for (std::string& part : parts) part = range_label(part);
  return join(parts, "/");
}

/// Divides the rows into at most `most` groups and returns the index of the row with the most bytes in each group.
std::vector<std::size_t> points_of(std::span<const MemoryRow> rows, std::size_t most) {
  std::vector<std::size_t> points;
  const std::size_t count = std::min(most, rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * rows.size() / count);
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * rows.size() / count);
    points.push_back(
        static_cast<std::size_t>(std::ranges::max_element(begin, end, {}, &MemoryRow::allocated) - rows.begin()));
  }
  return points;
}

/// Tracks the bytes that each band holds during a step.
class LiveBytes {
 public:
  void add(const MemoryRow& row) {
    if (row.bytes > 0) {
      const std::string name = band_name(row.range);
      blocks_[row.address] = {name, row.bytes};
      bytes_[name] += row.bytes;
      return;
    }
    const auto block = blocks_.find(row.address);
    if (block == blocks_.end()) return;  // the block was allocated before the step
    bytes_[block->second.first] -= block->second.second;
    blocks_.erase(block);
  }
  [[nodiscard]] const std::map<std::string, std::int64_t>& by_name() const { return bytes_; }

 private:
  std::unordered_map<std::uint64_t, std::pair<std::string, std::int64_t>> blocks_;
  std::map<std::string, std::int64_t> bytes_;
};

/// Returns at most `most` bands, with the most bytes first. If there are more, the last one is `others`, the sum of the
/// remaining bands.
std::vector<MemoryBand> largest(const std::map<std::string, std::vector<std::int64_t>>& held, std::size_t most) {
  std::vector<MemoryBand> bands;
  for (const auto& [name, bytes] : held) bands.push_back({.range = name, .bytes = bytes});
  std::ranges::stable_sort(bands, std::ranges::greater{},
                           [](const MemoryBand& band) { return std::ranges::max(band.bytes); });
  std::erase_if(bands, [](const MemoryBand& band) { return std::ranges::max(band.bytes) == 0; });
  if (bands.size() <= most) return bands;
  MemoryBand& others = bands[most - 1];
  others.range = "others";
  for (std::size_t i = most; i < bands.size(); ++i) {
    std::ranges::transform(others.bytes, bands[i].bytes, others.bytes.begin(), std::plus{});
  }
  bands.resize(most);
  return bands;
}

}  // namespace

std::vector<MemoryRow> memory_rows(const AllocationLog& log, std::span<const LoggedStep> steps,
                                   std::span<const std::string_view> phases) {
  std::vector<MemoryRow> rows;
  rows.reserve(log.events.size());
  for (std::size_t i = 0; i < log.events.size(); ++i) {
    const AllocationEvent& event = log.events[i];
    MemoryRow& row = rows.emplace_back(MemoryRow{.step = 0,
                                                 .phase = {},
                                                 .range = log.ranges[event.range],
                                                 .address = event.address,
                                                 .bytes = event.bytes,
                                                 .allocated = event.allocated});
    const auto after = std::ranges::upper_bound(steps, i, {}, &LoggedStep::begin);
    if (after == steps.begin()) continue;
    row.step = after - steps.begin();
    const std::vector<std::size_t>& ends = std::prev(after)->phase_ends;
    const auto phase = static_cast<std::size_t>(std::ranges::upper_bound(ends, i) - ends.begin());
    if (phase < ends.size()) row.phase = phases[phase];
  }
  return rows;
}

std::vector<MemoryRow> read_memory_csv(std::string_view text, const std::string& name) {
  const auto refuse = [&](std::size_t line, std::string_view problem) {
    throw UsageError{
        fmt::format("{}:{}: {}; trace the case again with --tb_profile, or move the file away", name, line, problem)};
  };
  std::vector<MemoryRow> rows;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) refuse(number, "the last line is not whole");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (line != kHeader) refuse(number, fmt::format("not the header '{}'", kHeader));
      continue;
    }
    std::optional<MemoryRow> row = row_of(line);
    if (!row) refuse(number, "not an event of an allocator");
    rows.push_back(std::move(*row));
  }
  if (number == 0) refuse(1, "the file is empty");
  return rows;
}

std::optional<MemoryTimeline> memory_timeline(std::span<const MemoryRow> rows, const TimelineOptions& options) {
  MemoryTimeline timeline;
  for (const MemoryRow& row : rows) timeline.step = std::max(timeline.step, row.step);
  std::vector<MemoryRow> step;
  std::ranges::copy_if(rows, std::back_inserter(step),
                       [&](const MemoryRow& row) { return row.step == timeline.step && !row.phase.empty(); });
  if (timeline.step == 0 || step.empty()) return std::nullopt;
  const std::vector<std::size_t> points = points_of(step, options.max_points);
  std::map<std::string, std::vector<std::int64_t>> held;
  MemoryBand before{.range = "before the step", .bytes = std::vector<std::int64_t>(points.size())};
  LiveBytes live;
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.size(); ++i) {
    live.add(step[i]);
    if (timeline.phases.empty() || timeline.phases.back().name != step[i].phase) {
      timeline.phases.push_back({.name = step[i].phase, .point = next});
    }
    if (next == points.size() || points[next] != i) continue;
    std::int64_t of_step = 0;
    for (const auto& [name, bytes] : live.by_name()) {
      auto& band = held.try_emplace(name, points.size()).first->second;
      band[next] = bytes;
      of_step += bytes;
    }
    before.bytes[next] = std::max<std::int64_t>(0, step[i].allocated - of_step);
    if (step[i].allocated > step[points[timeline.peak]].allocated) timeline.peak = next;
    timeline.events.push_back(i + 1);
    ++next;
  }
  for (MemoryPhase& phase : timeline.phases) phase.point = std::min(phase.point, points.size() - 1);
  timeline.bands = largest(held, options.max_bands - 1);
  timeline.bands.insert(timeline.bands.begin(), std::move(before));
  return timeline;
}

}  // namespace tbench::profile
