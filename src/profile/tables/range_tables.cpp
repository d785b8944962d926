#include <string>
#include <utility>
#include <vector>

#include "profile/tables/tables.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::profile {
namespace {

using render::Table;

std::string indented(const std::string& label, std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "· ";
  return text + label;
}

/// Adds the parts of row `of` after the rows inside it.
void add_derived(Table& table, const TableSource& source, std::size_t of) {
  const Profile& profile = source.profile();
  for (const DerivedRange& part : profile.derived_ranges) {
    if (part.of != of) continue;
    table.add_row({indented("(" + part.name + ")", profile.ranges[of].depth + 1), "", source.ms(part.host_ns), "", "",
                   source.ms(part.gpu_sum_ns), "", "", "", source.count(part.operations), source.count(part.launches)});
  }
}

}  // namespace

Table ranges_table(const TableSource& source) {
  const Profile& profile = source.profile();
  Table table{spared(columns_of({"range"}, {"n", "host ms", "host excl. ms", "GPU span ms", "GPU sum ms", "GPU busy ms",
                                            "GPU excl. ms", "GPU excl. %", "operations", "launches"}),
                     {"GPU sum ms", "operations", "host excl. ms", "GPU busy ms"})};
  std::vector<std::size_t> open;  // indexes of the ranges whose inner rows are not complete yet
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) add_derived(table, source, open.back());
  };
  for (std::size_t i = 0; i < profile.ranges.size(); ++i) {
    const RangeTime& range = profile.ranges[i];
    close_to(range.depth);
    open.push_back(i);
    table.add_row({indented(range.label, range.depth), source.count(range.host.count()),
                   source.ms(range.host.total_ns()), source.ms(range.host_exclusive_ns), source.ms(range.gpu_span_ns),
                   source.ms(range.gpu_sum_ns), source.ms(range.gpu_busy.total_ns()), source.ms(range.gpu_exclusive_ns),
                   source.share(range.gpu_exclusive_ns), source.count(range.operations), source.count(range.launches)});
  }
  close_to(0);
  if (!profile.ranges.empty() && profile.operations_without_range > 0) {
    table.add_row({"(no range)", "", "", "", "", "", "", source.ms(profile.operations_without_range_ns),
                   source.share(profile.operations_without_range_ns), source.count(profile.operations_without_range),
                   ""});
  }
  return table;
}

Table softmax_vs_matmul_table(const TableSource& source) {
  Table table{spared(columns_of({"phase"}, {"softmax ms", "softmax %", "matmul ms", "matmul %", "softmax / matmul",
                                            "QK^T ms", "context ms", "other ms"}),
                     {"other ms", "context ms", "QK^T ms"})};
  for (const AttentionTime& time : source.profile().attention) {
    const std::int64_t matmul_ns = time.matmul_ns();
    const std::string ratio =
        matmul_ns > 0 ? render::format_number(static_cast<double>(time.softmax_ns) / static_cast<double>(matmul_ns))
                      : "";
    table.add_row({source.profile().phases[time.phase].name, source.ms(time.softmax_ns),
                   percent_of(time.softmax_ns, time.total_ns()), source.ms(matmul_ns),
                   percent_of(matmul_ns, time.total_ns()), ratio, source.ms(time.scores_ns), source.ms(time.context_ns),
                   source.ms(time.other_ns)});
  }
  return table;
}

}  // namespace tbench::profile
