#include <string>
#include <utility>
#include <vector>

#include "profile/tables/tables.hpp"

namespace tbench::profile {
namespace {

using render::Align;
using render::Column;
using render::Table;

bool is_matmul(const KernelTime& kernel) { return kernel.kernel_class == KernelClass::kGemm; }

/// Returns the phase's longest kernel for which `counts` is true, or null. Relies on the descending order of
/// Profile::kernels.
const KernelTime* longest(const Profile& profile, std::size_t phase, bool (*counts)(const KernelTime&)) {
  for (const KernelTime& kernel : profile.kernels) {
    if (kernel.phase == phase && counts(kernel)) return &kernel;
  }
  return nullptr;
}

std::string class_of(const KernelTime& kernel) { return std::string{to_string(kernel.kernel_class)}; }

/// Returns the time from each device's first operation to its last one, summed over the devices.
std::int64_t span_of(const Profile& profile) {
  std::int64_t span_ns = 0;
  for (const DeviceTime& device : profile.devices) span_ns += device.span_ns;
  return span_ns;
}

}  // namespace

Table phases_table(const TableSource& source) {
  const Profile& profile = source.profile();
  const bool has_by_time = profile.operations_by_time > 0;
  std::vector<std::string> numbers{"launches", "kernels", "kernels ms", "copies ms", "share %", "matrix products %"};
  if (has_by_time) numbers.emplace_back("by time");
  Table table{columns_of({"phase"}, std::move(numbers))};
  for (std::size_t i = 0; i < profile.phases.size(); ++i) {
    const PhaseTime& phase = profile.phases[i];
    std::vector<std::string> row{phase.name,
                                 source.count(phase.launches),
                                 source.count(phase.kernels),
                                 source.ms(phase.kernel_ns),
                                 source.ms(phase.copy_ns),
                                 source.share(source.phase_ns(i)),
                                 percent_of(source.class_ns(i, KernelClass::kGemm), source.phase_ns(i))};
    if (has_by_time) row.push_back(source.count(phase.operations_by_time));
    table.add_row(std::move(row));
  }
  return table;
}

Table gemm_share_table(const TableSource& source) {
  const Profile& profile = source.profile();
  Table table{columns_of({"phase"}, {"matrix products ms", "kernels ms", "of kernels %", "span ms", "of span %"})};
  const auto add = [&](const std::string& name, std::int64_t matmul_ns, std::int64_t kernel_ns, std::int64_t span_ns) {
    table.add_row({name, source.ms(matmul_ns), source.ms(kernel_ns), percent_of(matmul_ns, kernel_ns),
                   span_ns > 0 ? source.ms(span_ns) : "", span_ns > 0 ? percent_of(matmul_ns, span_ns) : ""});
  };
  std::int64_t all_matmul_ns = 0;
  std::int64_t all_kernel_ns = 0;
  for (std::size_t i = 0; i < profile.phases.size(); ++i) {
    const PhaseTime& phase = profile.phases[i];
    const std::int64_t matmul_ns = source.class_ns(i, KernelClass::kGemm);
    add(phase.name, matmul_ns, phase.kernel_ns, phase.span_ns);
    all_matmul_ns += matmul_ns;
    all_kernel_ns += phase.kernel_ns;
  }
  if (profile.phases.size() > 1) add("(all)", all_matmul_ns, all_kernel_ns, span_of(profile));
  return table;
}

Table top_kernels_table(const TableSource& source) {
  const Profile& profile = source.profile();
  Table table{{{.header = "phase"},
               {.header = "%", .align = Align::kRight},
               {.header = "top kernel"},
               {.header = "%", .align = Align::kRight},
               {.header = "top kernel other than matrix products"}}};
  for (std::size_t i = 0; i < profile.phases.size(); ++i) {
    const KernelTime* const top = longest(profile, i, [](const KernelTime&) { return true; });
    if (top == nullptr) continue;
    const KernelTime* const other = longest(profile, i, [](const KernelTime& kernel) { return !is_matmul(kernel); });
    const auto share_of = [&](const KernelTime* kernel) {
      return kernel == nullptr ? "" : percent_of(kernel->durations.total_ns(), source.phase_ns(i));
    };
    table.add_row({profile.phases[i].name, share_of(top), source.name_of(*top), share_of(other),
                   other == nullptr ? "" : source.name_of(*other)});
  }
  return table;
}

Table kernels_table(const TableSource& source) {
  const Profile& profile = source.profile();
  std::vector<Column> columns =
      columns_of({"phase", "class"}, {"calls", "total ms", "share %", "mean us", "std us", "min us", "max us"});
  columns.push_back({.header = "kernel"});
  Table table{spared(std::move(columns), {"max us", "min us", "std us"})};
  std::vector<std::size_t> shown(profile.phases.size());
  for (const KernelTime& kernel : profile.kernels) {
    if (shown[kernel.phase]++ >= source.options().top) continue;
    const Durations& d = kernel.durations;
    table.add_row({profile.phases[kernel.phase].name, class_of(kernel), source.count(d.count()),
                   source.ms(d.total_ns()), percent_of(d.total_ns(), source.phase_ns(kernel.phase)),
                   microseconds(d.mean_ns()), microseconds(d.std_ns()), microseconds(d.min_ns()),
                   microseconds(d.max_ns()), source.name_of(kernel)});
  }
  return table;
}

Table non_gemm_table(const TableSource& source) {
  const Profile& profile = source.profile();
  std::vector<Column> columns = columns_of({"phase", "class"}, {"calls", "total ms", "share %"});
  columns.push_back({.header = "kernel"});
  Table table{std::move(columns)};
  for (std::size_t i = 0; i < profile.phases.size(); ++i) {
    std::size_t kinds = 0;
    std::int64_t calls = 0;
    std::int64_t total_ns = 0;
    const auto add = [&](const std::string& kind, std::int64_t count, std::int64_t ns, const std::string& name) {
      table.add_row(
          {profile.phases[i].name, kind, source.count(count), source.ms(ns), percent_of(ns, source.phase_ns(i)), name});
    };
    for (const KernelTime& kernel : profile.kernels) {
      if (kernel.phase != i || is_matmul(kernel)) continue;
      const Durations& d = kernel.durations;
      if (kinds++ < source.options().top) add(class_of(kernel), d.count(), d.total_ns(), source.name_of(kernel));
      calls += d.count();
      total_ns += d.total_ns();
    }
    if (kinds > 0) add("(all)", calls, total_ns, "all " + std::to_string(kinds) + " other than matrix products");
  }
  return table;
}

Table classes_table(const TableSource& source) {
  Table table{columns_of({"phase", "class"}, {"operations", "total ms", "share of phase %", "share of all %"})};
  for (const ClassTime& time : source.profile().classes) {
    table.add_row({source.profile().phases[time.phase].name, std::string{to_string(time.kernel_class)},
                   source.count(time.operations), source.ms(time.total_ns),
                   percent_of(time.total_ns, source.phase_ns(time.phase)), source.share(time.total_ns)});
  }
  return table;
}

}  // namespace tbench::profile
