#include "studies/side_by_side/headline_quantities.hpp"

#include <fmt/format.h>

#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/work.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

std::string one_digit(double value) { return fmt::format("{:.1f}", value); }
std::string two_digits(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

std::optional<double> step_ms(const HeadlineStep& step) { return to_milliseconds(step.record->timing->median); }

std::optional<double> gpu_ms(const HeadlineStep& step) {
  const std::optional<Seconds> time = device_time(*step.record);
  return time ? std::optional{to_milliseconds(*time)} : std::nullopt;
}

std::optional<double> tokens_per_second(const HeadlineStep& step) {
  const Record& record = *step.record;
  if (!record.work || record.work->tokens <= 0) return std::nullopt;
  return static_cast<double>(record.work->tokens) / record.timing->median.value;
}

std::optional<double> millijoules_per_token(const HeadlineStep& step) {
  const Record& record = *step.record;
  if (!record.device || !record.work || record.work->tokens <= 0) return std::nullopt;
  const DeviceState& device = *record.device;
  if (!device.energy_per_step && !device.power) return std::nullopt;
  const double joules =
      device.energy_per_step ? device.energy_per_step->value : device.power->value * record.timing->median.value;
  return joules / static_cast<double>(record.work->tokens) * 1e3;
}

std::optional<double> mfu_percent(const HeadlineStep& step) {
  const Record& record = *step.record;
  std::optional<FlopPerSecond> peak = record.boost_peak;
  const auto precision = parse_enum<Precision>(record.id.at("precision"));
  if (!peak && precision) peak = datasheet_peak(step.gpu->facts->name, step.gpu->facts->sm_count, *precision);
  if (!peak || !record.work || record.work->flop.value <= 0) return std::nullopt;
  return (model_flop(*record.work) / record.timing->median).value / peak->value * 100;
}

std::optional<double> peak_gibibytes(const HeadlineStep& step) {
  if (!step.record->memory) return std::nullopt;
  return static_cast<double>(step.record->memory->allocated_peak) / (1 << 30);
}

std::optional<double> price_of_billion(const HeadlineStep& step) {
  constexpr double kSecondsPerHour = 3600;
  const std::optional<double> rate = tokens_per_second(step);
  if (!step.gpu->price_per_hour || !rate) return std::nullopt;
  return *step.gpu->price_per_hour / kSecondsPerHour / *rate * 1e9;
}

std::span<const HeadlineColumn> headline_columns() {
  static const std::vector<HeadlineColumn> columns{{"GPU ms", &gpu_ms, &render::format_number},
                                                   {"step ms", &step_ms, &render::format_number},
                                                   {"tokens/s", &tokens_per_second, &render::format_thousands},
                                                   {"MFU %", &mfu_percent, &one_digit},
                                                   {"mJ/token", &millijoules_per_token, &render::format_number},
                                                   {"peak GiB", &peak_gibibytes, &one_digit},
                                                   {kPriceHeader, &price_of_billion, &two_digits}};
  return columns;
}

}  // namespace tbench::studies
