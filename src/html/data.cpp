// The data of the HTML page. It is smaller than the results files, because a page of 10,000 cases has to open at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/charts/palette.hpp"
#include "html/page.hpp"
#include "html/plots/least_bytes.hpp"
#include "html/summary.hpp"
#include "tbench/html/pages.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/summary.hpp"

namespace tbench::html {
namespace {

constexpr std::size_t kMaxSamples = 150'000;  // per page; a sample takes about 2 bytes, packed
constexpr std::size_t kMinSamplesOfCase = 9;
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

constexpr std::array<std::string_view, 25> kMetrics{"median_ms",
                                                    "p10_ms",
                                                    "p90_ms",
                                                    "min_ms",
                                                    "mean_ms",
                                                    "std_ms",
                                                    "first_ms",
                                                    "forward_ms",
                                                    "backward_ms",
                                                    "optimizer_ms",
                                                    "tokens_per_second",
                                                    "flop_per_second",
                                                    "bytes_per_second",
                                                    "mfu",
                                                    "hfu",
                                                    "peak_share_at_clock",
                                                    "ceiling_share",
                                                    "above_ceiling",
                                                    "peak_allocated_bytes",
                                                    "peak_reserved_bytes",
                                                    "power_w",
                                                    "joules_per_token",
                                                    "sm_clock_mhz",
                                                    "host_bound",
                                                    "relative_iqr"};

class Facts {
 public:
  void add(const char* label, const std::string& text) {
    if (!text.empty()) json_.push_back(results::Json::array({label, text}));
  }
  [[nodiscard]] results::Json take() { return std::move(json_); }

 private:
  results::Json json_ = results::Json::array();
};

std::string gpu_text(const GpuFacts& gpu) {
  std::string text =
      fmt::format("compute capability {}, {} SMs, {:.1f} GiB, {:.0f} MiB L2", gpu.compute_capability, gpu.sm_count,
                  static_cast<double>(gpu.memory_bytes) / kGibi, static_cast<double>(gpu.l2_bytes) / (1024.0 * 1024.0));
  if (gpu.ecc) text += *gpu.ecc ? ", ECC on" : ", ECC off";
  if (gpu.mig.value_or(false)) text += ", MIG on";
  return text;
}

/// Returns the range of the cases' median SM clocks, `1,980 MHz` or `1,755 to 1,980 MHz`; empty if no case has one.
std::string measured_clocks(std::span<const Record> records) {
  std::vector<double> clocks;
  for (const Record& record : records) {
    if (record.device && record.device->sm_clock_p50) clocks.push_back(record.device->sm_clock_p50->value / 1e6);
  }
  if (clocks.empty()) return "";
  const auto [low, high] = std::ranges::minmax(clocks);
  return low == high ? fmt::format("{} MHz", render::format_thousands(low))
                     : fmt::format("{} to {} MHz", render::format_thousands(low), render::format_thousands(high));
}

std::string texts(const std::map<std::string, std::string>& values) {
  std::string joined;
  for (const auto& [name, value] : values) {
    if (!value.empty()) joined += fmt::format("{}{} {}", joined.empty() ? "" : ", ", name, value);
  }
  return joined;
}

void add_gpu(Facts& facts, const GpuFacts& gpu) {
  facts.add("GPU", gpu_text(gpu));
  if (gpu.power_limit_w) facts.add("Power limit", fmt::format("{:.0f} W", *gpu.power_limit_w));
  if (gpu.max_sm_clock_hz) {
    facts.add("Highest SM clock", fmt::format("{} MHz", render::format_thousands(*gpu.max_sm_clock_hz / 1e6)));
  }
  if (gpu.other_processes.value_or(0) > 0) {
    facts.add("Other processes", fmt::format("{} on the GPU when the run began", *gpu.other_processes));
  }
}

results::Json facts_of(const results::ResultFile& file) {
  const Environment& environment = file.environment;
  Facts facts;
  facts.add("Date", environment.date);
  if (file.interrupted) facts.add("Run", "interrupted by the user before its last case");
  if (environment.gpu) {
    add_gpu(facts, *environment.gpu);
    facts.add("SM clock in the cases", measured_clocks(file.records));
    facts.add("Clock policy", environment.clock_policy);
    if (file.other_processes_at_end.value_or(0) > 0) {
      facts.add("Other processes at the end", fmt::format("{} on the GPU", *file.other_processes_at_end));
    }
  }
  facts.add("CPU", fmt::format("{}, {} cores", environment.cpu_name, environment.cpu_cores));
  facts.add("System", environment.operating_system);
  facts.add("Versions", texts(environment.versions));
  facts.add("Build", fmt::format("{}, commit {}, sources {:.12}", environment.build_type,
                                 render::format_commit(environment.commit), environment.sources_digest));
  if (!environment.variant.empty()) facts.add("Variant", environment.variant);
  if (!environment.compile_options.empty()) facts.add("Compile options", environment.compile_options);
  facts.add("Options", texts(file.options));
  return facts.take();
}

results::Json metrics_of(const Record& record) {
  const std::map<std::string, double> counters = counters_of(record);
  results::Json values = results::Json::array();
  for (const std::string_view name : kMetrics) {
    const auto found = counters.find(std::string{name});
    values.push_back(found == counters.end() ? results::Json(nullptr) : page_number(found->second));
  }
  return values;
}

/// Adds at most `limit` samples, evenly spaced in the order taken.
void add_samples(results::Json& json, const Timing& timing, std::size_t limit) {
  const std::size_t count = timing.samples_s.size();
  const std::size_t kept = std::min(count, limit);
  results::Json samples = results::Json::array();
  results::Json flagged = results::Json::array();
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t index = i * count / kept;
    samples.push_back(rounded(timing.samples_s[index] * 1e3, 5));
    if (std::ranges::find(timing.flagged_samples, index) != timing.flagged_samples.end()) flagged.push_back(i);
  }
  json["samples_ms"] = std::move(samples);
  if (!flagged.empty()) json["flagged"] = std::move(flagged);
}

void add_timing(results::Json& json, const Timing& timing, std::size_t sample_limit) {
  if (timing.relative_half_width) json["half_width"] = rounded(*timing.relative_half_width, 3);
  json["n"] = timing.samples_s.size();
  json["stop"] = to_string(timing.stop_reason);
  if (!timing.phases.empty()) {
    results::Json phases = results::Json::array();
    for (const PhaseTime& phase : timing.phases) {
      phases.push_back(results::Json::array({phase.name, rounded(to_milliseconds(phase.median), 5)}));
    }
    json["phases_ms"] = std::move(phases);
  }
  add_samples(json, timing, sample_limit);
}

results::Json record_data(const Record& record, std::size_t file, std::size_t family, const PageFamilies& families,
                          TraceNames& names, std::size_t sample_limit) {
  results::Json json;
  json["file"] = file;
  json["family"] = family;
  json["values"] = families.values(record.id);
  json["status"] = to_string(record.status);
  if (!record.reason.empty()) json["reason"] = record.reason;
  if (record.repetitions > 1) {
    json["repetition"] = record.repetition_index;
    json["repetitions"] = record.repetitions;
  }
  json["metrics"] = metrics_of(record);
  if (record.timing && record.work && record.work->flop.value > 0) {
    if (const std::optional<double> bytes = least_bytes(record)) json["least_bytes"] = page_number(*bytes);
  }
  if (record.work && !record.work->ceiling.empty()) json["ceiling"] = record.work->ceiling;
  if (!record.labels.empty()) json["findings"] = record.labels;
  const Record* const alone = &record;
  if (const std::string marks = render::marks_of({&alone, 1}); !marks.empty()) {
    json["marks"] = marks;
    json["note"] = render::note_of(record);
  }
  if (record.timing) add_timing(json, *record.timing, sample_limit);
  if (record.trace) json["trace"] = names.trace(*record.trace);
  return json;
}

/// Returns the colour slots of the implementations, by name.
results::Json slots_of(std::span<const results::NamedResults> results) {
  std::set<std::string> names;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      if (const std::string* const name = implementation_of(record.id)) names.insert(*name);
    }
  }
  return colour_slots(names);
}

/// Returns the page's legend for the marks that its records have.
std::vector<std::string> legend_of(std::span<const results::NamedResults> results) {
  std::vector<const Record*> all;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) all.push_back(&record);
  }
  return render::legend_of(render::marks_of(all));
}

std::size_t count_cases(std::span<const results::NamedResults> results) {
  std::size_t count = 0;
  for (const results::NamedResults& result : results) count += result.file.records.size();
  return count;
}

results::Json file_data(const results::NamedResults& result) {
  const Environment& environment = result.file.environment;
  return {{"label", result.label},
          {"device", environment.gpu ? environment.gpu->name : environment.cpu_name},
          {"facts", facts_of(result.file)},
          {"cases", result.file.records.size()}};
}

}  // namespace

results::Json report_data(std::span<const results::NamedResults> results, std::span<const FileComparison> comparisons) {
  const std::size_t sample_limit =
      std::max(kMinSamplesOfCase, kMaxSamples / std::max<std::size_t>(1, count_cases(results)));
  results::Json files = results::Json::array();
  PageFamilies families;
  for (const results::NamedResults& result : results) {
    files.push_back(file_data(result));
    for (const Record& record : result.file.records) families.index_of(record.id);
  }
  results::Json records = results::Json::array();
  TraceNames names;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Record& record : results[i].file.records) {
      records.push_back(record_data(record, i, families.index_of(record.id), families, names, sample_limit));
    }
  }
  results::Json compared = html_comparisons(comparisons, families);
  const std::vector<SummaryPart> summary = page_summary(results, comparisons);
  return {{"summary", summary_json(summary)}, {"folded", !summary.empty() && summary.front().is_of_all},
          {"files", std::move(files)},        {"comparisons", std::move(compared)},
          {"families", families.json()},      {"metrics", kMetrics},
          {"slots", slots_of(results)},       {"legend", legend_of(results)},
          {"trace_names", names.names()},     {"records", std::move(records)}};
}

results::Json html_data(std::span<const results::NamedResults> results) {
  return report_data(results, compare_with_first(results));
}

}  // namespace tbench::html
