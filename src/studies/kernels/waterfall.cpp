// Breaks the measured step down: the time that it needs at the GPU's ceilings, the additional time that each kind of
// work takes, and the time in which the GPU is idle. The parts add up to the step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::waterfall {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kNegligible = 1e-4;  // share of the GPU's time
constexpr std::size_t kNamedClasses = 4;

/// One kind of work: its time at the ceiling, and the measured time of its kernels.
struct Part {
  std::string name;
  Seconds floor;
  std::string at;  // the ceiling, in words
  Seconds measured;
  std::string classes;  // the main classes in `measured`, with their times; empty for a part of a single class
};

/// Returns the time in which any operation of a phase ran, divided by the sum of the operations' times, or 1 if the
/// phase has no range. Concurrent kernels slow each other down. Scaling each by this factor divides the busy time among
/// them in proportion to their own times.
double busy_share(std::span<const TracedRange> ranges, std::string_view phase) {
  const TracedRange* const range = phase_range(ranges, phase);
  return range == nullptr || range->gpu_sum.value <= 0 ? 1.0 : range->gpu_busy.value / range->gpu_sum.value;
}

double traced_device_time(std::span<const Record* const> records) {
  return median_of(records,
                   [](const Record& record) -> std::optional<double> {
                     return record.trace ? std::optional{record.trace->device.value} : std::nullopt;
                   })
      .value();
}

class Waterfall {
 public:
  /// @param rate       ceiling of the matrix products, in FLOP per second
  /// @param bandwidth  ceiling of the memory, in bytes per second
  /// @param device     the GPU's own time in a timed step
  Waterfall(const StudyCase& of, const StepFloor& floor, double rate, double bandwidth, Seconds device) {
    const double clocks = device.value / traced_device_time(of.records);
    const std::vector<TracedRange> ranges = traced_ranges(of.records).ranges;
    for (const TracedPhase& phase : traced_phases(of.records)) {
      const double share = busy_share(ranges, phase.name);
      for (TracedKernel operation : phase.operations) {
        operation.total = operation.total * share * clocks;
        operations_.push_back(std::move(operation));
      }
    }
    const bool is_fused = class_time("attention_fused").value > 0;
    const auto at_rate = [&](const std::string& name, Flop flop, Seconds measured) {
      parts_.push_back({.name = name,
                        .floor = Seconds{flop.value / rate},
                        .at = fmt::format("{:.3g} TFLOP at {:.4g} TFLOP/s", flop.value / kTera, rate / kTera),
                        .measured = measured,
                        .classes = {}});
    };
    if (is_fused) {
      at_rate("matrix products", floor.products, class_time("gemm"));
      at_rate("attention", floor.attention, class_time("attention_fused"));
    } else {
      at_rate("matrix products, attention's too", Flop{floor.products.value + floor.attention.value},
              class_time("gemm"));
    }
    const auto at_bandwidth = [&](const std::string& name, std::int64_t bytes, Seconds measured, std::string classes) {
      const auto count = static_cast<double>(bytes);
      parts_.push_back({.name = name,
                        .floor = Seconds{count / bandwidth},
                        .at = fmt::format("{:.3g} GB at {:.4g} TB/s", count * 1e-9, bandwidth / kTera),
                        .measured = measured,
                        .classes = std::move(classes)});
    };
    if (floor.optimizer_bytes > 0) at_bandwidth("optimizer", floor.optimizer_bytes, class_time("optimizer"), {});
    const auto [time, classes] = other_classes();
    at_bandwidth("all other work", floor.other_bytes, time, classes);
    device_ = device;
    step_ = Seconds{median_of(of.records, [](const Record& record) -> std::optional<double> {
                      return record.timing->median.value;
                    }).value()};
  }

  [[nodiscard]] std::vector<StudyRow> rows() {
    Seconds floor, measured;
    for (const Part& part : parts_) {
      add("floor: " + part.name, part.floor, StudyStep::kFloor, part.at);
      floor = floor + part.floor;
      measured = measured + part.measured;
    }
    add("= floor", floor, StudyStep::kSum, {});
    for (const Part& part : parts_) lose(part.name + " beyond it", part.measured - part.floor, part.classes);
    const Seconds overlap = device_ - measured;
    if (std::abs(overlap.value) > kNegligible * device_.value) lose("kernels side by side", overlap, {});
    add("= device", device_, StudyStep::kSum, {});
    lose("GPU idle", step_ - device_, {});
    add("= step", step_, StudyStep::kSum, fmt::format("the most is lost to: {} ({})", largest_, to_text(most_)));
    return std::move(rows_);
  }

 private:
  [[nodiscard]] static std::string to_text(Seconds time) {
    return render::format_number(to_milliseconds(time)) + " ms";
  }

  [[nodiscard]] Seconds class_time(std::string_view name) const {
    Seconds time;
    for (const TracedKernel& operation : operations_) {
      if (operation.kernel_class == name) time = time + operation.total;
    }
    return time;
  }

  /// Returns the time of all classes without a separate part, and a text with the longest of these classes.
  [[nodiscard]] std::pair<Seconds, std::string> other_classes() const {
    Seconds time;
    std::vector<std::string> texts;
    for (const auto& [name, sum] : sums_by_class(operations_)) {
      if (name == "gemm" || name == "attention_fused" || name == "optimizer") continue;
      time = time + sum.total;
      if (texts.size() < kNamedClasses) texts.push_back(fmt::format("{} {}", name, to_text(sum.total)));
    }
    return {time, join(texts, ", ")};
  }

  void add(std::string name, Seconds time, StudyStep step, std::string detail) {
    rows_.push_back({.names = {std::move(name)},
                     .values = {to_milliseconds(time), percent_of(time, step_)},
                     .detail = std::move(detail),
                     .step = step});
  }
  void lose(const std::string& name, Seconds time, std::string detail) {
    if (largest_.empty() || time > most_) {
      largest_ = name;
      most_ = time;
    }
    add(name, time, StudyStep::kLoss, std::move(detail));
  }

  std::vector<TracedKernel> operations_;
  std::vector<Part> parts_;
  Seconds device_, step_;
  std::vector<StudyRow> rows_;
  std::string largest_;
  Seconds most_;
};

StudyColumn copy_rate() { return number_column("GB/s", "bytes_per_second", 1 / kGiga); }

/// Returns the rows of the waterfall. If the files lack a ceiling, or the trace disagrees with the time, returns one
/// row that says so. Returns no rows without a known model size or a trace.
std::vector<StudyRow> waterfall_of(const StudyCase& of) {
  const Record& first = *of.records.front();
  const auto rate = median_of(of.records, [](const Record& record) { return record.ceiling_per_second; });
  const auto bandwidth = median_of(of.all.records_of(copy_case()), copy_rate().value);
  const std::optional<ModelSize> size = model_size_of(first.id, of.all.sizes);
  if (!size || !first.trace) return {};
  const auto device = median_of(of.records, [](const Record& record) -> std::optional<double> {
    const std::optional<Seconds> time = device_time(record);
    return time ? std::optional{time->value} : std::nullopt;
  });
  if (!device) return {{.names = {"unknown"}, .values = {{}, {}}, .detail = "its trace disagrees with its time"}};
  if (!rate || !bandwidth) {
    const std::string missing = rate ? copy_case().name() : "the ceiling of its products (--tb_ceilings=on)";
    return {{.names = {"unknown"}, .values = {{}, {}}, .detail = "not in these files: " + missing}};
  }
  const StepFloor floor = model_step_floor(*size, first.id.int_at("ctx"), first.id.int_at("batch"),
                                           parse_enum<Pass>(first.id.at("pass")).value(),
                                           parse_enum<Precision>(first.id.at("precision")).value());
  return Waterfall{of, floor, *rate, *bandwidth * kGiga, Seconds{*device}}.rows();
}

Study waterfall_study() {
  FamilyGrid grid = model_grid({"512"}, {"forward", "train_step"}, {"bf16"});
  grid.axes.back() = {"impl", {"eager", "sdpa", "flash", "fused"}};
  grid.axes.push_back({"exec", {"stream", "graph"}, "stream"});
  return {.name = "waterfall",
          .title = "From the GPU's ceilings down to the measured step",
          .grids = {{.family = "Ceiling", .axes = {{"what", {"copy"}}, {"regime", {"burst"}}}}, std::move(grid)},
          .protocol = {.needs_trace = true},
          .tables = {{.caption = "The rate that bytes are held against",
                      .spread = {},
                      .columns = {copy_rate()},
                      .only = {{"what", "copy"}}}},
          .row_tables = {{.caption = "The floor is what a step cannot do without, at the ceilings measured in the same "
                                     "run: FLOP at the matrix product's rate of the precision, bytes at copy's. What "
                                     "a kind of work takes beyond it is its kernels' time less its floor; negative "
                                     "where it beats the ceiling, out of a cache for instance. Kernels of a phase that "
                                     "run side by side share its time in proportion to theirs. All rows but those "
                                     "with = add up to the step",
                          .names = {"part"},
                          .quantities = {{"ms", &render::format_number}, {"% of step", &one_digit}},
                          .detail = "of",
                          .rows_of = &waterfall_of,
                          .only = {{"batch", "4"}}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "waterfall", .order = 220, .make = &waterfall_study});

}  // namespace
}  // namespace tbench::studies::waterfall
