#include "tbench/profile/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::profile {
namespace {

using render::Align;
using render::Column;
using render::Table;

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerUs = 1e3;
constexpr double kBytesPerMegabyte = 1e6;
constexpr double kMaxOtherShare = 0.02;

std::string microseconds(double ns) { return render::format_number(ns / kNsPerUs); }
std::string microseconds(std::int64_t ns) { return microseconds(static_cast<double>(ns)); }

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}
std::string percent(double fraction) { return render::format_percent(fraction, 1); }

std::vector<Column> columns_of(std::vector<std::string> texts, std::vector<std::string> numbers) {
  std::vector<Column> columns;
  for (std::string& header : texts) columns.push_back({.header = std::move(header), .align = Align::kLeft});
  for (std::string& header : numbers) columns.push_back({.header = std::move(header), .align = Align::kRight});
  return columns;
}

/// With columns that go where a terminal is narrow, the last of them first.
std::vector<Column> spared(std::vector<Column> columns, const std::vector<std::string>& headers) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    std::ranges::find(columns, headers[i], &Column::header)->spare = static_cast<int>(i) + 1;
  }
  return columns;
}

/// Makes the tables of one profile.
class Tables {
 public:
  Tables(const Profile& profile, const TableOptions& options) : profile_{profile}, options_{options} {}

  [[nodiscard]] Table ranges() const {
    Table table{spared(columns_of({"range"}, {"n", "host ms", "host excl. ms", "GPU span ms", "GPU sum ms",
                                              "GPU busy ms", "GPU excl. ms", "GPU excl. %", "operations", "launches"}),
                       {"GPU sum ms", "operations", "host excl. ms", "GPU busy ms"})};
    for (const RangeTime& range : profile_.ranges) {
      std::string indent;
      for (std::size_t i = 0; i < range.depth; ++i) indent += "· ";
      table.add_row({indent + range.label, count(range.host.count()), ms(range.host.total_ns()),
                     ms(range.host_exclusive_ns), ms(range.gpu_span_ns), ms(range.gpu_sum_ns), ms(range.gpu_busy_ns),
                     ms(range.gpu_exclusive_ns), share(range.gpu_exclusive_ns), count(range.operations),
                     count(range.launches)});
    }
    if (!profile_.ranges.empty() && profile_.operations_without_range > 0) {
      table.add_row({"(no range)", "", "", "", "", "", "", ms(profile_.operations_without_range_ns),
                     share(profile_.operations_without_range_ns), count(profile_.operations_without_range), ""});
    }
    return table;
  }

  [[nodiscard]] Table phases() const {
    Table table{
        columns_of({"phase"}, {"launches", "kernels", "kernels ms", "copies ms", "share %", "matrix products %"})};
    for (std::size_t i = 0; i < profile_.phases.size(); ++i) {
      const PhaseTime& phase = profile_.phases[i];
      const std::int64_t all_ns = phase.kernel_ns + phase.copy_ns;
      table.add_row({phase.name, count(phase.launches), count(phase.kernels), ms(phase.kernel_ns), ms(phase.copy_ns),
                     share(all_ns), percent(ratio(class_ns(i, KernelClass::kGemm), all_ns))});
    }
    return table;
  }

  [[nodiscard]] Table top_kernels() const {
    Table table{{{.header = "phase"},
                 {.header = "%", .align = Align::kRight},
                 {.header = "top kernel"},
                 {.header = "%", .align = Align::kRight},
                 {.header = "top kernel that is no matrix product"}}};
    for (std::size_t i = 0; i < profile_.phases.size(); ++i) {
      const KernelTime* const top = longest(i, [](const KernelTime&) { return true; });
      if (top == nullptr) continue;
      const KernelTime* const other =
          longest(i, [](const KernelTime& kernel) { return kernel.kernel_class != KernelClass::kGemm; });
      const auto share_of = [&](const KernelTime* kernel) {
        return kernel == nullptr ? "" : percent(ratio(kernel->durations.total_ns(), phase_ns(i)));
      };
      table.add_row({profile_.phases[i].name, share_of(top), name_of(*top), share_of(other),
                     other == nullptr ? "" : name_of(*other)});
    }
    return table;
  }

  [[nodiscard]] Table kernels() const {
    std::vector<Column> columns =
        columns_of({"phase", "class"}, {"calls", "total ms", "share %", "mean us", "std us", "min us", "max us"});
    columns.push_back({.header = "kernel"});
    Table table{spared(std::move(columns), {"max us", "min us", "std us"})};
    std::vector<std::size_t> shown(profile_.phases.size());
    for (const KernelTime& kernel : profile_.kernels) {
      if (shown[kernel.phase]++ >= options_.top) continue;
      const Durations& d = kernel.durations;
      table.add_row({profile_.phases[kernel.phase].name, std::string{to_string(kernel.kernel_class)}, count(d.count()),
                     ms(d.total_ns()), percent(ratio(d.total_ns(), phase_ns(kernel.phase))), microseconds(d.mean_ns()),
                     microseconds(d.std_ns()), microseconds(d.min_ns()), microseconds(d.max_ns()), name_of(kernel)});
    }
    return table;
  }

  [[nodiscard]] Table classes() const {
    Table table{columns_of({"phase", "class"}, {"operations", "total ms", "share of phase %", "share of all %"})};
    for (const ClassTime& time : profile_.classes) {
      table.add_row({profile_.phases[time.phase].name, std::string{to_string(time.kernel_class)},
                     count(time.operations), ms(time.total_ns), percent(ratio(time.total_ns, phase_ns(time.phase))),
                     share(time.total_ns)});
    }
    return table;
  }

  [[nodiscard]] Table devices() const {
    Table table{columns_of({"device"}, {"span ms", "busy ms", "busy %", "host wait ms", "device wait ms", "other ms",
                                        "gaps", "longest us", "kernels", "launches"})};
    for (const DeviceTime& device : profile_.devices) {
      std::string name = fmt::format("{}", device.device);
      if (profile_.devices.back().process > 0) name += fmt::format(" of process {}", device.process + 1);
      if (device.host_bound()) name += " (host-bound)";
      table.add_row({name, ms(device.span_ns), ms(device.busy_ns), percent(ratio(device.busy_ns, device.span_ns)),
                     ms(device.gaps.host_ns), ms(device.gaps.device_ns), ms(device.gaps.other_ns),
                     count(device.gaps.count), microseconds(device.gaps.longest_ns), count(device.kernels),
                     count(device.launches)});
    }
    return table;
  }

  [[nodiscard]] Table calls() const {
    Table table{columns_of({"call"}, {"calls", "total ms", "mean us", "std us", "min us", "max us"})};
    for (const ApiTime& call : profile_.calls) {
      const Durations& d = call.durations;
      table.add_row({call.name, count(d.count()), ms(d.total_ns()), microseconds(d.mean_ns()), microseconds(d.std_ns()),
                     microseconds(d.min_ns()), microseconds(d.max_ns())});
    }
    return table;
  }

  [[nodiscard]] Table copies() const {
    Table table{columns_of({"copy"}, {"count", "MB", "total ms", "GB/s", "share %"})};
    for (const CopyTime& copy : profile_.copies) {
      const auto bytes = static_cast<double>(copy.bytes);
      const std::string rate =
          copy.total_ns > 0 ? render::format_number(bytes / static_cast<double>(copy.total_ns)) : "";
      table.add_row({copy.name, count(copy.count),
                     render::format_number(bytes / kBytesPerMegabyte / static_cast<double>(options_.steps)),
                     ms(copy.total_ns), rate, share(copy.total_ns)});
    }
    return table;
  }

 private:
  [[nodiscard]] std::string ms(std::int64_t ns) const {
    return render::format_number(static_cast<double>(ns) / kNsPerMs / static_cast<double>(options_.steps));
  }
  [[nodiscard]] std::string count(std::int64_t n) const {
    if (n % options_.steps == 0) return render::format_thousands(static_cast<double>(n / options_.steps));
    return render::format_number(static_cast<double>(n) / static_cast<double>(options_.steps));
  }
  [[nodiscard]] std::string share(std::int64_t ns) const { return percent(profile_.share(ns)); }
  [[nodiscard]] std::string name_of(const KernelTime& kernel) const {
    return options_.has_full_names ? kernel.name : kernel_name(kernel.name);
  }
  [[nodiscard]] std::int64_t phase_ns(std::size_t phase) const {
    return profile_.phases[phase].kernel_ns + profile_.phases[phase].copy_ns;
  }
  [[nodiscard]] std::int64_t class_ns(std::size_t phase, KernelClass kernel_class) const {
    for (const ClassTime& time : profile_.classes) {
      if (time.phase == phase && time.kernel_class == kernel_class) return time.total_ns;
    }
    return 0;
  }
  /// The kernels of a phase are ordered, the longest first.
  [[nodiscard]] const KernelTime* longest(std::size_t phase, bool (*counts)(const KernelTime&)) const {
    for (const KernelTime& kernel : profile_.kernels) {
      if (kernel.phase == phase && counts(kernel)) return &kernel;
    }
    return nullptr;
  }

  const Profile& profile_;
  const TableOptions& options_;
};

struct Kind {
  const char* name;
  const char* caption;
  bool is_per_step;  // where steps are told
  Table (Tables::*make)() const;
};

constexpr std::array kKinds{
    Kind{"ranges", "Ranges: on the host and of the GPU operations launched in them", true, &Tables::ranges},
    Kind{"phases", "Phases", true, &Tables::phases},
    Kind{"top_kernels", "Top kernels, share of the phase", false, &Tables::top_kernels},
    Kind{"kernels", "Kernels, share of the phase", true, &Tables::kernels},
    Kind{"classes", "Classes of operations", true, &Tables::classes},
    Kind{"devices", "Devices: busy time, and gaps by what was waited for", true, &Tables::devices},
    Kind{"calls", "CUDA API", true, &Tables::calls},
    Kind{"copies", "Copies and fills", true, &Tables::copies},
};

std::string caption_of(const ProfileTable& table, PageFormat format) {
  if (format == PageFormat::kText) return table.caption + "\n";
  return fmt::format("**{}**\n\n", render::escape_markdown(table.caption));
}

}  // namespace

std::vector<std::string> profile_table_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<ProfileTable> profile_tables(const Profile& profile, const TableOptions& options) {
  const Tables tables{profile, options};
  std::vector<ProfileTable> made;
  for (const Kind& kind : kKinds) {
    Table table = (tables.*kind.make)();
    if (!table.empty())
      made.push_back({kind.name, kind.caption + std::string{options.steps > 1 && kind.is_per_step ? ", per step" : ""},
                      std::move(table)});
  }
  return made;
}

std::vector<std::string> profile_notes(const Profile& profile) {
  std::vector<std::string> notes;
  const auto of_all = [&](std::int64_t count) {
    return fmt::format("{} of {} operations", render::format_thousands(static_cast<double>(count)),
                       render::format_thousands(static_cast<double>(profile.operations)));
  };
  if (profile.operations_without_launch > 0) {
    notes.push_back(fmt::format("{} have no call that launched them: the capture lacks it, and they are in no range",
                                of_all(profile.operations_without_launch)));
  }
  if (!profile.ranges.empty() && profile.operations_without_range > 0) {
    notes.push_back(fmt::format(
        "{} were launched in no range ({} % of the time): backward runs on a thread of its own, say",
        of_all(profile.operations_without_range), percent(profile.share(profile.operations_without_range_ns))));
  }
  if (profile.graph_replays > 0) {
    notes.push_back(
        fmt::format("{} are replays of CUDA graphs traced as a whole, of class other; --cuda-graph-trace=node "
                    "of nsys shows their kernels",
                    of_all(profile.graph_replays)));
  } else if (profile.other_share() > kMaxOtherShare) {
    notes.push_back(fmt::format("{} % of the time is of class other; 'tbench classify' and --rules name more kernels",
                                percent(profile.other_share())));
  }
  return notes;
}

std::string profile_page(const Profile& profile, const TableOptions& options, PageFormat format,
                         const std::vector<std::string>& heading, const std::vector<std::string>& tables,
                         std::optional<std::size_t> max_width) {
  const std::vector<std::string> names = profile_table_names();
  for (const std::string& wanted : tables) {
    if (std::ranges::find(names, wanted) != names.end()) continue;
    throw UsageError{fmt::format("--table: unknown value '{}'{} (values: {})", wanted, did_you_mean(wanted, names),
                                 join(names, ", "))};
  }
  const bool has_prose = format == PageFormat::kText || format == PageFormat::kMarkdown;
  const auto prose = [&](const std::string& line) {
    return format == PageFormat::kMarkdown ? "- " + render::escape_markdown(render::one_line(line)) + "\n"
                                           : render::one_line(line) + "\n";
  };
  std::string page;
  if (has_prose) {
    for (const std::string& line : heading) page += prose(line);
  }
  for (const ProfileTable& table : profile_tables(profile, options)) {
    if (!tables.empty() && std::ranges::find(tables, table.name) == tables.end()) continue;
    if (!page.empty()) page += "\n";
    if (format == PageFormat::kCsv) page += table.table.csv();
    if (format == PageFormat::kLatex) page += table.table.latex(table.caption);
    if (format == PageFormat::kMarkdown) page += caption_of(table, format) + table.table.markdown();
    if (format == PageFormat::kText)
      page += caption_of(table, format) + table.table.without_spare_columns(max_width).text(max_width);
  }
  const std::vector<std::string> notes = profile_notes(profile);
  if (has_prose && !notes.empty()) {
    page += "\n";
    for (const std::string& note : notes) page += prose(note);
  }
  return page;
}

}  // namespace tbench::profile
