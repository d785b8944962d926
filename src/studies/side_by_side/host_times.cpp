// Breaks down the time of a run on the host.
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/studies/side_by_side.hpp"

namespace tbench::studies {
namespace {

using render::Align;

struct Part {
  const char* name;
  Seconds HostTimes::*time;
};

constexpr std::array kParts{
    Part{"build", &HostTimes::build},     Part{"verify", &HostTimes::verification},
    Part{"sample", &HostTimes::sampling}, Part{"memory pass", &HostTimes::memory_pass},
    Part{"trace", &HostTimes::trace},     Part{"verify again", &HostTimes::second_verification}};

struct FamilyTimes {
  std::int64_t cases{};
  HostTimes times;
  Seconds total;  // including time outside every part
};

void add(FamilyTimes& sum, const Record& record) {
  ++sum.cases;
  for (const Part& part : kParts) sum.times.*part.time = sum.times.*part.time + (*record.host_times).*part.time;
  sum.total = sum.total + record.harness + record.host_times->sampling;
}

std::vector<render::Cell> row_of(const std::string& name, const FamilyTimes& sum) {
  const auto cases = static_cast<double>(sum.cases);
  std::vector<render::Cell> row{{.text = name},
                                {.text = render::format_thousands(cases), .value = cases},
                                render::number_cell(sum.total.value, 1)};
  for (const Part& part : kParts) {
    const Seconds time = sum.times.*part.time;
    row.push_back(render::number_cell(time.value, 1));
    const Seconds others = sum.total - time;
    row.push_back(others.value > 0 ? render::number_cell(time / others * 100, 1) : render::Cell{});
  }
  return row;
}

}  // namespace

render::Table host_times_table(std::span<const results::NamedResults> results) {
  std::map<std::string, FamilyTimes> families;
  FamilyTimes all;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      if (!record.host_times) continue;
      add(families[record.id.family()], record);
      add(all, record);
    }
  }
  if (families.empty()) {
    throw UsageError{
        "--host-times: no record tells what the host's time was for; give results that this version or a later one "
        "measured, by one process per case"};
  }
  std::vector<render::Column> columns{{"family"}, {"entries", Align::kRight}, {"s", Align::kRight}};
  for (const Part& part : kParts) {
    columns.push_back({fmt::format("{}, s", part.name), Align::kRight});
    columns.push_back({"+ %", Align::kRight});
  }
  render::Table table{std::move(columns)};
  for (const auto& [family, sum] : families) table.add_row_of(row_of(family, sum));
  if (families.size() > 1) table.add_row_of(row_of("all", all));
  return table;
}

}  // namespace tbench::studies
