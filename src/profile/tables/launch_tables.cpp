#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/tables/tables.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::profile {
namespace {

using render::Table;

/// The launches, the device time and the calls of one phase or of the whole trace.
struct Launches {
  std::string name;
  std::int64_t launches{};
  std::int64_t kernels{};
  std::int64_t span_ns{};
  std::int64_t busy_ns{};
  Gaps gaps{};
  std::span<const ApiTime> calls{};
  std::span<const CopyTime> copies{};
};

Launches launches_of(const PhaseTime& phase) {
  return {.name = phase.name,
          .launches = phase.launches,
          .kernels = phase.kernels,
          .span_ns = phase.span_ns,
          .busy_ns = phase.busy_ns,
          .gaps = phase.gaps,
          .calls = phase.calls,
          .copies = phase.copies};
}

Launches all_launches(const Profile& profile) {
  Launches all{.name = "(all)", .calls = profile.calls, .copies = profile.copies};
  for (const PhaseTime& phase : profile.phases) all.kernels += phase.kernels;
  for (const DeviceTime& device : profile.devices) {
    all.launches += device.launches;
    all.span_ns += device.span_ns;
    all.busy_ns += device.busy_ns;
    all.gaps.add(device.gaps);
  }
  return all;
}

void add_device_rows(Table& table, const TableSource& source, const Launches& of) {
  if (of.span_ns == 0) return;
  const auto add = [&](const char* what, const std::string& count, std::int64_t ns) {
    table.add_row({of.name, what, count, source.ms(ns), percent_of(ns, of.span_ns), ""});
  };
  add("GPU busy", "", of.busy_ns);
  add("gaps", source.count(of.gaps.count), of.gaps.total_ns());
  add("gaps: host wait", "", of.gaps.host_ns);
  add("gaps: device wait", "", of.gaps.device_ns);
  if (of.gaps.other_ns > 0) add("gaps: other", "", of.gaps.other_ns);
  // The longest gap is a single gap, so it is not divided by the number of steps.
  const std::int64_t longest_ns = of.gaps.longest_ns;
  table.add_row({of.name, "longest gap", "",
                 render::format_milliseconds(Seconds{static_cast<double>(longest_ns) * 1e-9}), "", ""});
}

void add_launch_rows(Table& table, const TableSource& source, const Launches& of) {
  if (of.kernels == 0 && of.calls.empty() && of.copies.empty()) return;
  table.add_row({of.name, "kernels", source.count(of.kernels), "", "", ""});
  table.add_row({of.name, "launches", source.count(of.launches), "", "", ""});
  add_device_rows(table, source, of);
  for (const ApiTime& call : of.calls.first(std::min(of.calls.size(), source.options().top))) {
    table.add_row(
        {of.name, call.name, source.count(call.durations.count()), source.ms(call.durations.total_ns()), "", ""});
  }
  for (const CopyTime& copy : of.copies) {
    table.add_row({of.name, copy.name, source.count(copy.count), source.ms(copy.total_ns),
                   of.span_ns > 0 ? percent_of(copy.total_ns, of.span_ns) : "", source.megabytes(copy.bytes)});
  }
}

}  // namespace

Table devices_table(const TableSource& source) {
  const Profile& profile = source.profile();
  Table table{columns_of({"device"}, {"span ms", "busy ms", "busy %", "host wait ms", "device wait ms", "other ms",
                                      "gaps", "longest us", "kernels", "launches"})};
  for (const DeviceTime& device : profile.devices) {
    std::string name = fmt::format("{}", device.device);
    if (profile.devices.back().process > 0) name += fmt::format(" of process {}", device.process + 1);
    if (device.host_bound()) name += " (host-bound)";
    table.add_row({name, source.ms(device.span_ns), source.ms(device.busy_ns),
                   percent_of(device.busy_ns, device.span_ns), source.ms(device.gaps.host_ns),
                   source.ms(device.gaps.device_ns), source.ms(device.gaps.other_ns), source.count(device.gaps.count),
                   microseconds(device.gaps.longest_ns), source.count(device.kernels), source.count(device.launches)});
  }
  return table;
}

Table launches_table(const TableSource& source) {
  const Profile& profile = source.profile();
  Table table{columns_of({"phase", "what"}, {"count", "total ms", "of span %", "MB"})};
  if (profile.operations == 0 && profile.calls.empty()) return table;
  for (const PhaseTime& phase : profile.phases) add_launch_rows(table, source, launches_of(phase));
  if (profile.phases.size() > 1) add_launch_rows(table, source, all_launches(profile));
  return table;
}

Table calls_table(const TableSource& source) {
  Table table{columns_of({"call"}, {"calls", "total ms", "mean us", "std us", "min us", "max us"})};
  for (const ApiTime& call : source.profile().calls) {
    const Durations& d = call.durations;
    table.add_row({call.name, source.count(d.count()), source.ms(d.total_ns()), microseconds(d.mean_ns()),
                   microseconds(d.std_ns()), microseconds(d.min_ns()), microseconds(d.max_ns())});
  }
  return table;
}

Table copies_table(const TableSource& source) {
  Table table{columns_of({"copy"}, {"count", "MB", "total ms", "GB/s", "share %"})};
  for (const CopyTime& copy : source.profile().copies) {
    const std::string rate =
        copy.total_ns > 0 ? render::format_number(static_cast<double>(copy.bytes) / static_cast<double>(copy.total_ns))
                          : "";
    table.add_row({copy.name, source.count(copy.count), source.megabytes(copy.bytes), source.ms(copy.total_ns), rate,
                   source.share(copy.total_ns)});
  }
  return table;
}

}  // namespace tbench::profile
