#include "results/old_records.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tbench::results {
namespace {

constexpr double kMaxOfAClock = 1.02;  // the largest plausible clock, relative to the GPU's highest clock

/// Returns the precision of the case's matrix products, from a parameter or from a ceiling's name such as `gemm_bf16`.
std::optional<Precision> precision_of(const CaseId& id) {
  for (const char* key : {"precision", "input"}) {
    if (const std::string* const value = id.find(key)) return parse_enum<Precision>(*value);
  }
  constexpr std::string_view kProduct = "gemm_";
  const std::string* const what = id.find("what");
  if (what == nullptr || !what->starts_with(kProduct)) return std::nullopt;
  return parse_enum<Precision>(std::string_view{*what}.substr(kProduct.size()));
}

/// Returns Work::optimizer for a train step from before version 9, when `eager` used the fused optimizer in fp16.
/// Returns an empty text for other cases.
std::string optimizer_of(const CaseId& id) {
  const std::string* const pass = id.find("pass");
  const std::string* const impl = id.find("impl");
  const bool trains = id.family() == "DataParallel" || (pass != nullptr && *pass == to_string(Pass::kTrainStep));
  if (!trains || impl == nullptr) return "";
  if (*impl == "fused") return "adamw_own";
  return *impl == "eager" && precision_of(id) != Precision::kFp16 ? "adamw_foreach" : "adamw_fused";
}

/// Returns whether the cycles that were scaled to the median step exceed the number that the GPU can count.
bool has_impossible_clock(const Record& record, const GpuFacts& gpu) {
  if (!record.device || !record.device->sm_clock_counted || !gpu.max_sm_clock_hz) return false;
  if (!record.timing || !record.timing->wall || record.timing->median.value <= 0) return false;
  const double scaled = record.device->sm_clock_counted->value * (*record.timing->wall / record.timing->median);
  return scaled > kMaxOfAClock * *gpu.max_sm_clock_hz;
}

}  // namespace

void complete_old_records(ResultFile& file) {
  for (Record& record : file.records) {
    if (record.work) record.work->optimizer = optimizer_of(record.id);
    if (!record.peak_at_clock || !file.environment.gpu) continue;
    const GpuFacts& gpu = *file.environment.gpu;
    if (const auto precision = precision_of(record.id)) {
      record.boost_peak = datasheet_peak(gpu.name, gpu.sm_count, *precision);
    }
    if (has_impossible_clock(record, gpu)) record.peak_at_clock.reset();
  }
}

}  // namespace tbench::results
