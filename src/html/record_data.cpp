#include "html/page.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "tbench/core/step_counts.hpp"

namespace tbench::html {
namespace {

constexpr int kDigits = 4;

results::Json number(double value) { return page_number(rounded(value, kDigits)); }

results::Json milliseconds(Seconds time) { return number(to_milliseconds(time)); }

/// The sum over all operations of one class in one phase.
struct ClassSum {
  std::size_t phase{};
  std::size_t kernel_class{};
  Seconds total{};
  double operations{};
};

}  // namespace

std::size_t TraceNames::index_of(const std::string& name) {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.push_back(name);
  return names_.size() - 1;
}

results::Json TraceNames::ranges(const StepTrace& trace) {
  results::Json ranges = results::Json::array();
  std::map<std::string, std::int64_t> places;  // by path
  for (const TracedRange& range : trace.ranges) {
    if (!(range.gpu_sum.value > 0)) continue;
    std::size_t end = range.path.rfind('/');
    while (end != std::string::npos && !places.contains(range.path.substr(0, end))) {
      end = end == 0 ? std::string::npos : range.path.rfind('/', end - 1);
    }
    const bool is_inside = end != std::string::npos;
    ranges.push_back(index_of(is_inside ? range.path.substr(end + 1) : range.path));
    ranges.push_back(is_inside ? places.at(range.path.substr(0, end)) : -1);
    ranges.push_back(milliseconds(range.gpu_sum));
    places.emplace(range.path, static_cast<std::int64_t>(places.size()));
  }
  return ranges;
}

results::Json TraceNames::trace(const StepTrace& trace) {
  std::vector<ClassSum> sums;
  for (const TracedKernel& kernel : trace.kernels) {
    const std::size_t phase = index_of(kernel.phase);
    const std::size_t kernel_class = index_of(kernel.kernel_class);
    auto sum = std::ranges::find_if(
        sums, [&](const ClassSum& s) { return s.phase == phase && s.kernel_class == kernel_class; });
    if (sum == sums.end()) {
      sum = sums.insert(sums.end(),
                        ClassSum{.phase = phase, .kernel_class = kernel_class, .total = {}, .operations = {}});
    }
    sum->total = sum->total + kernel.total;
    sum->operations += kernel.calls;
  }
  results::Json classes = results::Json::array();
  for (const ClassSum& sum : sums) {
    classes.push_back(sum.phase);
    classes.push_back(sum.kernel_class);
    classes.push_back(milliseconds(sum.total));
    classes.push_back(number(sum.operations));
  }
  results::Json totals = results::Json::array(
      {milliseconds(trace.span), milliseconds(trace.device), milliseconds(trace.host_gaps),
       milliseconds(trace.device_gaps), milliseconds(trace.other_gaps), number(to_microseconds(trace.longest_gap)),
       number(kernels_per_step(trace)), number(trace.launches)});
  return results::Json::array({std::move(totals), std::move(classes), ranges(trace)});
}

}  // namespace tbench::html
