// Answers the questions that the course asks about a profile, in sentences with numbers from the records.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "studies/roofline/attention_counts.hpp"
#include "tbench/profile/short_kernel_name.hpp"

namespace tbench::studies::answers {
namespace {

constexpr double kNotable = 5;  // percent of a phase's time; classes below it are not listed

double gemm_percent(std::span<const TracedKernel> operations) {
  return percent_of(sum_of(operations, &is_gemm).total, sum_of(operations, &is_kernel).total);
}

StudyRow answer(std::string question, std::optional<double> percent, std::string text) {
  return {.names = {std::move(question)}, .values = {percent}, .detail = std::move(text)};
}

/// The answers for one case. An answer is left out if the records lack the measurements for it.
class Answers {
 public:
  explicit Answers(const StudyCase& of)
      : record_{*of.records.front()},
        inference_{of.all.records_of(with_value(of.records.front()->id, "pass", "forward"))},
        phases_{traced_phases(of.records)},
        ranges_{traced_ranges(of.records)} {}

  [[nodiscard]] std::vector<StudyRow> all() const {
    std::vector<StudyRow> rows;
    for (const auto& one : {forward_time(), top_kernel(), other_kernels(), gemm_share(), softmax()}) {
      if (one) rows.push_back(*one);
    }
    return rows;
  }

 private:
  [[nodiscard]] std::optional<StudyRow> forward_time() const {
    const TracedRange* const range = phase_range(ranges_.ranges, "forward");
    const std::optional<Seconds> events = studies::forward_time(record_);
    if (range == nullptr || !events) return std::nullopt;
    return answer(
        "(a) forward: a trace beside the timer", percent_of(range->gpu_span, *events),
        fmt::format("GPU span of the range FORWARD, traced, {:.4g} ms, of which its operations take {:.4g} "
                    "ms; {:.4g} ms by the timer's events",
                    to_milliseconds(range->gpu_span), to_milliseconds(range->gpu_busy), to_milliseconds(*events)));
  }

  [[nodiscard]] std::optional<StudyRow> top_kernel() const {
    const TracedPhase* const forward = phase_named(phases_, "forward");
    if (forward == nullptr) return std::nullopt;
    const TracedKernel& top = forward->operations.front();
    std::string text =
        fmt::format("{}: {:.1f} % of forward's time on the GPU, {} calls per step",
                    profile::short_kernel_name(top.name), percent_of(top.total, forward->total), count_text(top.calls));
    if (const std::optional<TracedPhase> both = forward_and_backward(phases_)) {
      const TracedKernel& other = both->operations.front();
      text += other.name == top.name
                  ? "; forward and backward together have the same"
                  : fmt::format("; forward and backward together have another: {} with {:.1f} %",
                                profile::short_kernel_name(other.name), percent_of(other.total, both->total));
      const auto own = std::ranges::find(both->operations, top.name, &TracedKernel::name);
      text += fmt::format("; of both it has {:.1f} %", percent_of(own->total, both->total));
    }
    return answer("(b) forward's longest kernel", percent_of(top.total, forward->total), std::move(text));
  }

  [[nodiscard]] std::optional<StudyRow> other_kernels() const {
    const TracedPhase* const forward = phase_named(phases_, "forward");
    if (forward == nullptr) return std::nullopt;
    std::string text;
    Seconds rest;
    for (const auto& [name, sum] : sums_by_class(forward->operations)) {
      if (name == "gemm") continue;
      rest = rest + sum.total;
      const double share = percent_of(sum.total, forward->total);
      if (share < kNotable) continue;
      text += fmt::format("{}{} {:.1f} % ({} calls)", text.empty() ? "" : ", ", name, share, count_text(sum.calls));
    }
    if (text.empty()) text = fmt::format("no class has {:.0f} % or more", kNotable);
    return answer("(c) forward's time besides matrix products", percent_of(rest, forward->total), std::move(text));
  }

  /// Compares the share of matrix products in inference, measured as a separate case, with the share in the whole
  /// training step.
  [[nodiscard]] std::optional<StudyRow> gemm_share() const {
    const std::vector<TracedPhase> inference_phases = traced_phases(inference_);
    const TracedPhase* const forward = phase_named(inference_phases, "forward");
    if (forward == nullptr || phases_.size() < 2) return std::nullopt;
    std::vector<TracedKernel> step;
    for (const TracedPhase& phase : phases_) step.insert(step.end(), phase.operations.begin(), phase.operations.end());
    const double inference = gemm_percent(forward->operations);
    const double training = gemm_percent(step);
    return answer("(d) matrix products: the step beside inference", training,
                  fmt::format("{:.1f} % of the kernels' time in inference, {:.1f} % in the whole step: {:+.1f} "
                              "percentage points",
                              inference, training, training - inference));
  }

  [[nodiscard]] std::optional<StudyRow> softmax() const {
    const auto time = std::ranges::find(ranges_.attention, "forward", &TracedAttention::phase);
    const auto counts = attention_counts(record_.id);
    if (time == ranges_.attention.end() || !counts) return std::nullopt;
    const Seconds matmul = time->scores + time->context;
    if (matmul.value <= 0) return std::nullopt;
    const double times = percent_of(time->softmax, matmul);
    const double flops = 100 * counts->softmax.flop / counts->products().flop;
    return answer(
        "(e) softmax beside attention's matrix products", times,
        fmt::format("{:.4g} ms against {:.4g} ms: {:.1f} % of the time for {:.1f} % of the FLOP, {:.3g} times "
                    "the time a FLOP",
                    to_milliseconds(time->softmax), to_milliseconds(matmul), times, flops, times / flops));
  }

  const Record& record_;
  std::span<const Record* const> inference_;  // records of the same case with pass:forward
  std::vector<TracedPhase> phases_;
  TracedRanges ranges_;
};

std::vector<StudyRow> answers_of(const StudyCase& of) { return Answers{of}.all(); }

Study answers_study() {
  return {.name = "answers",
          .title = "What a profile is asked: forward's time, its kernels, matrix products, softmax",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {{.caption = "(a) the span with its gaps, percent of the untraced time, (b) and (c) of "
                                     "forward's time on the GPU, (d) of the "
                                     "step's kernels, (e) of the products' time",
                          .names = {"question"},
                          .quantities = {{"%", &one_digit}},
                          .detail = "answer",
                          .rows_of = &answers_of,
                          .has_no_charts = true}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "answers", .order = 190, .make = &answers_study});

}  // namespace
}  // namespace tbench::studies::answers
