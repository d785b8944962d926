#include "tbench/profile/profile_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "profile/files/pickle_writer.hpp"
#include "profile/tables/tables.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/flame_graph.hpp"
#include "tbench/profile/memory_timeline.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOtherFiles{"kernels.csv", "ranges.csv", "api.csv", "folded.txt", "summary.json"};

[[noreturn]] void refuse(const std::string& problem) {
  throw UsageError{fmt::format("{}; give a folder that can be written", problem)};
}

bool is_profile(const std::string& folder) {
  try {
    static_cast<void>(read_trace_file(folder));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Checks that the folder has no files with these names that are not from a profile, so that they are not overwritten.
void check_free(const fs::path& folder) {
  const auto check = [&](const char* name) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(folder / name, error))) return;
    throw UsageError{
        fmt::format("'{}' exists, and is not an earlier profile: it has no {} of this program; give another "
                    "folder, or move the file away",
                    (folder / name).string(), kTraceFileName)};
  };
  if (is_profile(folder.string())) return;
  check(kTraceFileName);
  for (const char* name : kOtherFiles) check(name);
}

void make(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
  if (!fs::is_directory(folder, error)) refuse(fmt::format("'{}' is not a folder", folder.string()));
}

/// Writes stacks of ranges as frames. A repeated stack is written as a reference.
class Frames {
 public:
  Frames(PickleWriter& out, const AllocationLog& log) : out_{out}, log_{log}, written_(log.ranges.size()) {}

  void write(std::size_t range) {
    std::optional<std::uint32_t>& known = written_[range];
    if (known) return out_.again(*known);
    out_.begin_list();
    const std::string& path = log_.ranges[range];
    std::vector<std::string> names = path.empty() ? std::vector<std::string>{} : split(path, '/');
    std::ranges::reverse(names);  // a stack begins with its innermost frame
    for (const std::string& name : names) frame(name);
    out_.end_list();
    known = out_.remember();
  }
  void frame(std::string_view name) {
    out_.begin_dict();
    out_.entry("name", name);
    out_.entry("filename", "");
    out_.entry("line", 0);
    out_.end_dict();
  }

 private:
  PickleWriter& out_;
  const AllocationLog& log_;
  std::vector<std::optional<std::uint32_t>> written_;
};

void write_event(PickleWriter& out, Frames& frames, const AllocationEvent& event, const char* action,
                 std::int64_t number) {
  out.begin_dict();
  out.entry("action", action);
  out.entry("addr", static_cast<std::int64_t>(event.address));
  out.entry("size", std::abs(event.bytes));
  out.entry("stream", 0);
  out.entry("time_us", number);
  out.text("frames");
  frames.write(event.range);
  out.end_dict();
}

void write_segment(PickleWriter& out, std::int64_t address, std::int64_t bytes, const auto& write_frames) {
  out.begin_dict();
  out.entry("device", 0);
  out.entry("address", address);
  for (const char* key : {"total_size", "allocated_size", "active_size", "requested_size"}) out.entry(key, bytes);
  out.entry("stream", 0);
  out.entry("segment_type", "large");
  out.text("blocks");
  out.begin_list();
  out.begin_dict();
  out.entry("address", address);
  out.entry("size", bytes);
  out.entry("requested_size", bytes);
  out.entry("state", "active_allocated");
  out.text("frames");
  write_frames();
  out.end_dict();
  out.end_list();
  out.end_dict();
}

void write_segments(PickleWriter& out, Frames& frames, const AllocationLog& log) {
  const std::vector<std::size_t> live = live_behind(log, log.events.size());
  std::int64_t older = log.events.empty() ? log.allocated_before : log.events.back().allocated;
  for (const std::size_t index : live) older -= log.events[index].bytes;
  out.begin_list();
  if (older > 0) {
    write_segment(out, 0, older, [&] {
      out.begin_list();
      frames.frame("(before the log)");
      out.end_list();
    });
  }
  for (const std::size_t index : live) {
    const AllocationEvent& event = log.events[index];
    write_segment(out, static_cast<std::int64_t>(event.address), event.bytes, [&] { frames.write(event.range); });
  }
  out.end_list();
}

}  // namespace

void write_profile_files(const std::string& folder, const Trace& trace, const TraceFacts& facts,
                         const Profile& profile) {
  const TableOptions every_row{
      .steps = facts.steps, .top = std::numeric_limits<std::size_t>::max(), .has_full_names = true};
  const TableSource source{profile, every_row};
  const std::string packed = pack_trace(trace, facts);
  make(folder);
  check_free(folder);
  const auto write = [&](const char* name, std::string_view content) {
    try {
      results::write_atomically((fs::path{folder} / name).string(), content);
    } catch (const results::WriteError& error) {
      throw UsageError{error.what()};
    }
  };
  write(kTraceFileName, packed);  // written first, because it marks the folder as a profile if the program stops here
  write("kernels.csv", kernels_table(source).csv());
  write("ranges.csv", ranges_table(source).csv());
  write("api.csv", calls_table(source).csv());
  write("folded.txt", folded_stacks(profile));
  const std::vector<std::string> words{"tbench", "profile", folder};
  write("summary.json", profile_json(profile, facts.steps, results::command_line(words)));
}

std::string memory_csv(const AllocationLog& log, std::span<const LoggedStep> steps,
                       std::span<const std::string_view> phases) {
  using enum render::Align;
  render::Table table{{{"event", kRight},
                       {"step", kRight},
                       {"phase", kLeft},
                       {"range", kLeft},
                       {"address", kLeft},
                       {"bytes", kRight},
                       {"allocated bytes", kRight}}};
  std::size_t number = 0;
  for (const MemoryRow& row : memory_rows(log, steps, phases)) {
    table.add_row({std::to_string(++number), row.step == 0 ? "" : std::to_string(row.step), row.phase, row.range,
                   fmt::format("{:#x}", row.address), std::to_string(row.bytes), std::to_string(row.allocated)});
  }
  return table.csv();
}

std::string memory_pickle(const AllocationLog& log) {
  PickleWriter out;
  Frames frames{out, log};
  out.begin_dict();
  out.text("segments");
  write_segments(out, frames, log);
  out.text("device_traces");
  out.begin_list();
  out.begin_list();
  std::int64_t number = 0;
  for (const AllocationEvent& event : log.events) {
    ++number;
    if (event.bytes > 0) {
      write_event(out, frames, event, "alloc", number);
      continue;
    }
    write_event(out, frames, event, "free_requested", number);
    write_event(out, frames, event, "free_completed", number);
  }
  out.end_list();
  out.end_list();
  out.end_dict();
  return std::move(out).take();
}

void write_memory_files(const std::string& folder, const AllocationLog& log, std::span<const LoggedStep> steps,
                        std::span<const std::string_view> phases) {
  const auto write = [&](const char* name, std::string_view content) {
    try {
      results::write_atomically((std::filesystem::path{folder} / name).string(), content);
    } catch (const results::WriteError& error) {
      throw UsageError{error.what()};
    }
  };
  write(kMemoryCsvName, memory_csv(log, steps, phases));
  write(kMemoryPickleName, memory_pickle(log));
}

}  // namespace tbench::profile
