#include "html/page.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/core/work.hpp"

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

/// The bytes per element of the inputs and outputs in a precision.
struct ElementBytes {
  std::int64_t input{};
  std::int64_t output{};
};

std::optional<ElementBytes> element_of(const std::string& precision) {
  if (precision == "fp8_e4m3") return ElementBytes{.input = 1, .output = 2};
  const std::optional<Precision> stored = parse_enum<Precision>(precision);
  if (!stored) return std::nullopt;
  return ElementBytes{.input = storage_bytes(*stored), .output = storage_bytes(*stored)};
}

std::string text_of(const CaseId& id, std::string_view key) {
  const std::string* const value = id.find(key);
  return value == nullptr ? "" : *value;
}

/// Returns the value of `key`, or nullopt unless it is a positive number that a shape can have.
std::optional<std::int64_t> extent_of(const CaseId& id, std::string_view key) {
  const std::optional<std::int64_t> value = parse_integer(text_of(id, key));
  constexpr std::int64_t kMax = 1 << 20;
  return value && *value > 0 && *value <= kMax ? value : std::nullopt;
}

std::optional<double> gemm_bytes(const CaseId& id, const ElementBytes& element) {
  const auto m = extent_of(id, "m");
  const auto n = extent_of(id, "n");
  const auto k = extent_of(id, "k");
  if (!m || !n || !k) return std::nullopt;
  const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  return (size(*m, *k) + size(*k, *n)) * static_cast<double>(element.input) +
         size(*m, *n) * static_cast<double>(element.output);
}

std::optional<double> attention_bytes(const CaseId& id, const ElementBytes& element) {
  const auto batch = extent_of(id, "batch");
  const auto heads = extent_of(id, "heads");
  const auto d_model = extent_of(id, "d_model");
  const auto length = extent_of(id, "seq_len");
  const auto pass = parse_enum<AttentionPass>(text_of(id, "pass"));
  // There is no bound for both passes together: attention_min_bytes() counts the bytes that they hold at once, but they
  // move more.
  if (!batch || !heads || !d_model || !length || !pass || pass == AttentionPass::kForwardBackward) return std::nullopt;
  constexpr double kMaxElements = 1e15;  // far beyond any memory
  if (static_cast<double>(*batch) * static_cast<double>(*d_model) * static_cast<double>(*length) > kMaxElements) {
    return std::nullopt;
  }
  const AttentionShape shape{.batch = *batch,
                             .heads = *heads,
                             .seq_q = *length,
                             .seq_kv = *length,
                             .head_dim = *d_model / *heads,
                             .causal = false};
  return static_cast<double>(attention_min_bytes(shape, *pass, element.input));
}

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

std::optional<double> least_bytes(const Record& record) {
  if (record.work && record.work->bytes > 0) return static_cast<double>(record.work->bytes);
  const std::optional<ElementBytes> element = element_of(text_of(record.id, "precision"));
  if (!element) return std::nullopt;
  if (record.id.family() == "Gemm") return gemm_bytes(record.id, *element);
  if (record.id.family() == "Attention") return attention_bytes(record.id, *element);
  return std::nullopt;
}

}  // namespace tbench::html
