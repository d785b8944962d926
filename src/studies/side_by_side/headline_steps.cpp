#include "studies/side_by_side/headline_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

void add_once(Texts& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// Returns a Model case without its size and implementation.
CaseId workload_of(const CaseId& id) { return without(id, {"size", "impl", "exec"}); }

/// Returns the position of a value among values in order of preference; the last position if it is none of them.
template <std::size_t N>
std::size_t preference(const CaseId& id, std::string_view key, const std::array<std::string_view, N>& values) {
  const std::string* const value = id.find(key);
  return value == nullptr ? N : static_cast<std::size_t>(std::ranges::find(values, *value) - values.begin());
}

constexpr std::array<std::string_view, 3> kPasses{"train_step", "forward_backward", "forward"};
constexpr std::array<std::string_view, 4> kPrecisions{"bf16", "fp16", "tf32", "fp32"};

/// A combination of context, batch, pass and precision, as a candidate for the headline.
struct Workload {
  CaseId id;  // of Model, without size and implementation
  std::size_t first{};
  std::ptrdiff_t cells{};  // pairs of a GPU model and a size that have a time
  [[nodiscard]] auto rank() const {
    return std::tuple{preference(id, "pass", kPasses), preference(id, "precision", kPrecisions), -cells, first};
  }
};

std::optional<CaseId> best_workload(std::span<const HeadlineGpu> gpus) {
  std::map<std::string, Workload> workloads;
  for (const HeadlineGpu& gpu : gpus) {
    std::map<std::string, Texts> seen;  // sizes by workload
    for (const Record* const record : gpu.records) {
      const std::string* const size = record->id.find("size");
      if (record->id.family() != "Model" || !record->timing || size == nullptr) continue;
      const CaseId id = workload_of(record->id);
      Workload& workload =
          workloads.try_emplace(id.name(), Workload{.id = id, .first = workloads.size()}).first->second;
      if (std::ranges::find(seen[id.name()], *size) != seen[id.name()].end()) continue;
      seen[id.name()].push_back(*size);
      ++workload.cells;
    }
  }
  const auto best = std::ranges::min_element(workloads, {}, [](const auto& w) { return w.second.rank(); });
  return best == workloads.end() ? std::nullopt : std::optional{best->second.id};
}

/// Returns the position of a size among the built-in ones; the user's sizes come last.
std::ptrdiff_t place_of_size(const std::string& size) {
  const auto sizes = builtin_model_sizes();
  return std::ranges::find(sizes, size, &ModelSize::name) - sizes.begin();
}

double median_of(const Record* record) { return record->timing->median.value; }

/// Returns the middle record of the fastest case, or a record without a time if no case has one.
HeadlineStep fastest(const HeadlineGpu& gpu, const std::string& size, std::span<const Record* const> records) {
  std::map<std::string, std::vector<const Record*>> by_case;
  for (const Record* const record : records) {
    if (record->timing) by_case[record->id.name()].push_back(record);
  }
  HeadlineStep step{.gpu = &gpu, .size = size, .record = records.front()};
  bool has_time = false;
  for (auto& [name, timed] : by_case) {
    std::ranges::sort(timed, {}, &median_of);
    const Record* const middle = timed[(timed.size() - 1) / 2];
    if (has_time && median_of(step.record) <= median_of(middle)) continue;
    step.record = middle;
    step.processes = timed.size();
    has_time = true;
  }
  return step;
}

}  // namespace

HeadlineSteps headline_steps(std::span<const HeadlineGpu> gpus) {
  const std::optional<CaseId> workload = best_workload(gpus);
  if (!workload) {
    throw UsageError{
        "--headline: no case of Model has a time; give results of the standard suite, or of "
        "--benchmark_filter='^Model/.*pass:train_step/precision:bf16'"};
  }
  HeadlineSteps headline{.common = *workload, .steps = {}};
  Texts sizes;
  std::map<std::string, std::map<const HeadlineGpu*, std::vector<const Record*>>> cells;
  for (const HeadlineGpu& gpu : gpus) {
    for (const Record* const record : gpu.records) {
      const std::string* const size = record->id.find("size");
      if (size == nullptr || record->id.family() != "Model" || workload_of(record->id) != headline.common) continue;
      add_once(sizes, *size);
      cells[*size][&gpu].push_back(record);
    }
  }
  std::ranges::stable_sort(sizes, {}, &place_of_size);
  for (const std::string& size : sizes) {
    for (const HeadlineGpu& gpu : gpus) {
      const auto records = cells[size].find(&gpu);
      if (records != cells[size].end()) headline.steps.push_back(fastest(gpu, size, records->second));
    }
  }
  return headline;
}

std::string not_measured(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  Texts sizes;
  for (const HeadlineStep& step : steps.steps) add_once(sizes, step.size);
  Texts parts;
  for (const HeadlineGpu& gpu : gpus) {
    Texts missing;
    for (const std::string& size : sizes) {
      const auto is_of = [&](const HeadlineStep& step) { return step.gpu == &gpu && step.size == size; };
      if (std::ranges::none_of(steps.steps, is_of)) missing.push_back(size);
    }
    if (!missing.empty()) parts.push_back(fmt::format("{} on {}", join(missing, ", "), gpu.name));
  }
  return join(parts, "; ");
}

}  // namespace tbench::studies
