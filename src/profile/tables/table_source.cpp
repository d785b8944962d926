#include "profile/tables/tables.hpp"

#include <algorithm>
#include <utility>

#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::profile {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerUs = 1e3;
constexpr double kBytesPerMegabyte = 1e6;

}  // namespace

std::string TableSource::ms(std::int64_t total_ns) const {
  return render::format_number(static_cast<double>(total_ns) / kNsPerMs / static_cast<double>(options_.steps));
}

std::string TableSource::count(std::int64_t n) const {
  const std::int64_t whole = n / options_.steps;
  if (whole * options_.steps == n) return render::format_thousands(static_cast<double>(whole));
  return render::format_number(static_cast<double>(n) / static_cast<double>(options_.steps));
}

std::string TableSource::megabytes(std::int64_t bytes) const {
  return render::format_number(static_cast<double>(bytes) / kBytesPerMegabyte / static_cast<double>(options_.steps));
}

std::string TableSource::share(std::int64_t ns) const { return render::format_percent(profile_.share(ns), 1); }

std::string TableSource::name_of(const KernelTime& kernel) const {
  return options_.has_full_names ? kernel.name : kernel_name(kernel.name);
}

std::int64_t TableSource::phase_ns(std::size_t phase) const {
  return profile_.phases[phase].kernel_ns + profile_.phases[phase].copy_ns;
}

std::int64_t TableSource::class_ns(std::size_t phase, KernelClass kernel_class) const {
  for (const ClassTime& time : profile_.classes) {
    if (time.phase == phase && time.kernel_class == kernel_class) return time.total_ns;
  }
  return 0;
}

std::string microseconds(double ns) { return render::format_number(ns / kNsPerUs); }
std::string microseconds(std::int64_t ns) { return microseconds(static_cast<double>(ns)); }

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return render::format_percent(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0, 1);
}

std::vector<render::Column> columns_of(std::vector<std::string> texts, std::vector<std::string> numbers) {
  std::vector<render::Column> columns;
  for (std::string& header : texts) columns.push_back({.header = std::move(header), .align = render::Align::kLeft});
  for (std::string& header : numbers) columns.push_back({.header = std::move(header), .align = render::Align::kRight});
  return columns;
}

std::vector<render::Column> spared(std::vector<render::Column> columns, const std::vector<std::string>& headers) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    std::ranges::find(columns, headers[i], &render::Column::header)->spare = static_cast<int>(i) + 1;
  }
  return columns;
}

}  // namespace tbench::profile
