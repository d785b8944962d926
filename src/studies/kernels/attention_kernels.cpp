#include "studies/kernels/attention_kernels.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

#include "studies/engine/study_traces.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::studies {
namespace {

constexpr std::string_view kCast = "cast";
constexpr std::string_view kOtherStep = "other";

constexpr std::array<std::string_view, 8> kSteps{"maximum",  "subtraction", kExponential, "sum",
                                                 "division", kFused,        kCast,        kOtherStep};

/// The words in the names of kernels, and the steps that they mean. ATen subtracts by an addition of the negative.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords{{{"max", "maximum"},
                                                                               {"amax", "maximum"},
                                                                               {"sub", "subtraction"},
                                                                               {"add", "subtraction"},
                                                                               {"exp", kExponential},
                                                                               {"sum", "sum"},
                                                                               {"div", "division"}}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// Returns the words of a name in lower case: `max`, `nan` and `functor` for `MaxNanFunctor`.
std::set<std::string> words_of(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  char before = ' ';
  for (const char c : name + ' ') {
    if (!is_letter(c) || (is_upper(c) && !is_upper(before))) words.insert(std::exchange(word, {}));
    if (is_letter(c)) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    before = c;
  }
  return words;
}

/// Returns the label of the innermost range of attention's core around a range, or an empty text.
std::string_view core_label(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view label = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (label == "attention.scores" || label == "attention.softmax" || label == "attention.context") return label;
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return {};
}

bool is_softmax_class(const TracedKernel& kernel) {
  return kernel.kernel_class == "softmax_forward" || kernel.kernel_class == "softmax_backward";
}

AttentionPart part_of(const TracedRange& range, const TracedKernel& kernel) {
  if (is_softmax(range, kernel)) return AttentionPart::kSoftmax;
  if (!is_gemm(kernel)) return AttentionPart::kOther;
  return core_label(range.path) == "attention.scores" ? AttentionPart::kScores : AttentionPart::kContext;
}

/// Returns a row for each phase, part, step and kernel of a trace: its calls and its time.
std::vector<TracedRow> rows_of(const StepTrace& trace) {
  std::vector<TracedRow> rows;
  for (const TracedRangeKernel& in_range : trace.range_kernels) {
    const TracedRange& range = trace.ranges.at(in_range.range);
    const TracedKernel& kernel = trace.kernels.at(in_range.kernel);
    if (core_label(range.path).empty()) continue;
    const AttentionPart part = part_of(range, kernel);
    rows.push_back({.names = {kernel.phase, std::to_string(static_cast<int>(part)),
                              part == AttentionPart::kSoftmax ? softmax_step(kernel) : "",
                              profile::current_kernel_name(kernel.name)},
                    .values = {is_kernel(kernel) ? in_range.calls : 0, in_range.total.value}});
  }
  return rows;
}

}  // namespace

std::span<const std::string_view> softmax_steps() { return kSteps; }

std::string softmax_step(const TracedKernel& kernel) {
  if (is_softmax_class(kernel)) return std::string{kFused};
  if (kernel.kernel_class == "cast") return std::string{kCast};
  const std::set<std::string> words = words_of(kernel.name);
  std::set<std::string_view> steps;
  for (const auto& [word, step] : kWords) {
    if (words.contains(std::string{word})) steps.insert(step);
  }
  if (steps.size() > 1) return std::string{kFused};
  return std::string{steps.empty() ? kOtherStep : *steps.begin()};
}

bool is_softmax(const TracedRange& range, const TracedKernel& kernel) {
  const std::string_view label = core_label(range.path);
  return label == "attention.softmax" || (!label.empty() && is_softmax_class(kernel));
}

std::vector<AttentionKernel> attention_kernels(std::span<const Record* const> records) {
  std::vector<AttentionKernel> kernels;
  for (const TracedRow& row : traced_rows(records, &rows_of)) {
    kernels.push_back({.phase = row.names[0],
                       .part = static_cast<AttentionPart>(std::stoi(row.names[1])),
                       .step = row.names[2],
                       .name = row.names[3],
                       .calls = row.values[0],
                       .total = Seconds{row.values[1]}});
  }
  return kernels;
}

}  // namespace tbench::studies
