// Each struct has one function, `fields`, that serves both directions (json_fields.hpp).
#include "tbench/results/record_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tbench/results/json_fields.hpp"
#include "tbench/results/record_rules.hpp"

namespace tbench::results {

// The following functions are not in an unnamed namespace, because json_fields.hpp finds them by argument-dependent
// lookup in the namespace of their first argument.
static void fields(auto& io, Like<WarmUp> auto& warm_up) {
  io.field("steps", warm_up.steps);
  io.field("first_s", warm_up.first);
  io.field("steady", warm_up.steady);
}

static void fields(auto& io, Like<PhaseTime> auto& phase) {
  io.field("name", phase.name);
  io.field("median_s", phase.median);
  io.field("mean_s", phase.mean);
  io.field("standard_deviation_s", phase.standard_deviation);
}

static void fields(auto& io, Like<Timing> auto& timing) {
  io.late_name("regime", timing.regime, &parse_enum<Regime>);
  io.name("l2", timing.l2, &parse_enum<L2State>);
  io.late_field("launches_per_sample", timing.launches_per_sample);
  io.late_field("resolution_limited", timing.resolution_limited);
  io.field("samples_s", timing.samples_s);
  io.field("flagged_samples", timing.flagged_samples);
  io.field("median_s", timing.median);
  io.field("p10_s", timing.p10);
  io.field("p90_s", timing.p90);
  io.field("min_s", timing.min);
  io.field("mean_s", timing.mean);
  io.field("standard_deviation_s", timing.standard_deviation);
  io.field("relative_iqr", timing.relative_iqr);
  io.field("relative_half_width", timing.relative_half_width);
  io.name("stop_reason", timing.stop_reason, &parse_enum<StopReason>);
  io.field("warm_up", timing.warm_up);
  io.field("phases", timing.phases);
  io.field("wall_s", timing.wall);
  io.field("enqueue_s", timing.enqueue);
  io.field("drain_s", timing.drain);
  io.field("cpu_s", timing.cpu);
  io.field("duty", timing.duty);
  io.field("host_bound", timing.host_bound);
}

static void fields(auto& io, Like<Work> auto& work) {
  io.field("flop", work.flop);
  io.field("least_flop", work.min_flop);
  io.field("tokens", work.tokens);
  io.late_field("bytes", work.bytes);
  io.text_unless_empty("ceiling", work.ceiling);
  io.text_unless_empty("optimizer", work.optimizer);
}

static void fields(auto& io, Like<DeviceState> auto& device) {
  io.name("clock_source", device.clock_source, &parse_enum<ClockSource>);
  io.field("sm_clock_p5_hz", device.sm_clock_p5);
  io.field("sm_clock_p50_hz", device.sm_clock_p50);
  io.field("sm_clock_p95_hz", device.sm_clock_p95);
  io.field("sm_clock_mean_hz", device.sm_clock_mean);
  io.field("sm_clock_counted_hz", device.sm_clock_counted);
  io.field("temperature_c", device.temperature_c);
  io.field("power_w", device.power);
  io.field("energy_per_step_j", device.energy_per_step);
  io.field("throttle_reasons", device.throttle_reasons);
}

static void fields(auto& io, Like<PhaseMemory> auto& phase) {
  io.field("phase", phase.phase);
  io.field("allocated_peak_bytes", phase.allocated_peak);
  io.field("held_bytes", phase.held);
  io.late_field("held_split_bytes", phase.held_split);
}

static void fields(auto& io, Like<RangeMemory> auto& range) {
  io.field("range", range.range);
  io.field("bytes", range.bytes);
  io.field("allocations", range.allocations);
}

static void fields(auto& io, Like<Allocation> auto& allocation) {
  io.field("range", allocation.range);
  io.field("bytes", allocation.bytes);
}

static void fields(auto& io, Like<MemoryBand> auto& band) {
  io.field("range", band.range);
  io.field("bytes", band.bytes);
}

static void fields(auto& io, Like<MemoryPhase> auto& phase) {
  io.field("name", phase.name);
  io.field("point", phase.point);
}

static void fields(auto& io, Like<MemoryTimeline> auto& timeline) {
  io.field("step", timeline.step);
  io.field("events", timeline.events);
  io.field("bands", timeline.bands);
  io.field("phases", timeline.phases);
  io.field("peak", timeline.peak);
}

static void fields(auto& io, Like<MemoryUse> auto& memory) {
  io.field("allocated_peak_bytes", memory.allocated_peak);
  io.field("requested_peak_bytes", memory.requested_peak);
  io.field("reserved_peak_bytes", memory.reserved_peak);
  io.field("device_used_bytes", memory.device_used);
  io.field("split_bytes", memory.split);
  io.late_field("phases", memory.phases);
  io.late_field("peak_ranges", memory.peak_ranges);
  io.late_field("largest", memory.largest);
  io.field("unlogged_bytes", memory.unlogged);
  io.field("timeline", memory.timeline);
}

static void fields(auto& io, Like<TracedKernel> auto& kernel) {
  io.field("phase", kernel.phase);
  io.field("class", kernel.kernel_class);
  io.field("name", kernel.name);
  io.field("calls", kernel.calls);
  io.field("total_s", kernel.total);
  io.field("min_s", kernel.min);
  io.field("max_s", kernel.max);
  io.field("standard_deviation_s", kernel.standard_deviation);
}

static void fields(auto& io, Like<TracedRange> auto& range) {
  io.field("path", range.path);
  io.field("calls", range.calls);
  io.field("host_s", range.host);
  io.field("host_exclusive_s", range.host_exclusive);
  io.field("gpu_span_s", range.gpu_span);
  io.field("gpu_sum_s", range.gpu_sum);
  io.field("gpu_busy_s", range.gpu_busy);
  io.field("gpu_exclusive_s", range.gpu_exclusive);
  io.field("operations", range.operations);
  io.field("launches", range.launches);
  io.field("host_min_s", range.host_min);
  io.field("host_max_s", range.host_max);
  io.field("host_standard_deviation_s", range.host_deviation);
  io.field("gpu_min_s", range.gpu_min);
  io.field("gpu_max_s", range.gpu_max);
  io.field("gpu_standard_deviation_s", range.gpu_deviation);
  io.field("host_gaps_s", range.host_gaps);
  io.field("device_gaps_s", range.device_gaps);
}

static void fields(auto& io, Like<TracedRangeKernel> auto& kernel) {
  io.field("range", kernel.range);
  io.field("kernel", kernel.kernel);
  io.field("calls", kernel.calls);
  io.field("total_s", kernel.total);
}

static void fields(auto& io, Like<TracedCall> auto& call) {
  io.field("name", call.name);
  io.field("calls", call.calls);
  io.field("host_s", call.host);
}

static void fields(auto& io, Like<TracedCopy> auto& copy) {
  io.field("name", copy.name);
  io.field("count", copy.count);
  io.field("bytes", copy.bytes);
  io.field("total_s", copy.total);
}

static void fields(auto& io, Like<PhaseTrace> auto& phase) {
  io.field("phase", phase.phase);
  io.field("span_s", phase.span);
  io.field("host_gaps_s", phase.host_gaps);
  io.field("device_gaps_s", phase.device_gaps);
  io.field("other_gaps_s", phase.other_gaps);
  io.field("api_calls", phase.api_calls);
  io.field("api_s", phase.api);
  io.field("calls", phase.calls);
  io.field("copies", phase.copies);
}

static void fields(auto& io, Like<TracedPart> auto& part) {
  io.field("of", part.of);
  io.field("name", part.name);
  io.field("host_s", part.host);
  io.field("gpu_sum_s", part.gpu_sum);
  io.field("operations", part.operations);
  io.field("launches", part.launches);
}

static void fields(auto& io, Like<TracedAttention> auto& attention) {
  io.field("phase", attention.phase);
  io.field("softmax_s", attention.softmax);
  io.field("scores_s", attention.scores);
  io.field("context_s", attention.context);
  io.field("other_s", attention.other);
}

static void fields(auto& io, Like<StepTimeline> auto& timeline) {
  io.field("range", timeline.range);
  io.field("names", timeline.names);
  io.field("kind", timeline.kind);
  io.field("name", timeline.name);
  io.field("depth", timeline.depth);
  io.field("start_s", timeline.start_s);
  io.field("end_s", timeline.end_s);
  io.field("left_out", timeline.left_out);
}

static void fields(auto& io, Like<StepTrace> auto& trace) {
  io.field("steps", trace.steps);
  io.field("span_s", trace.span);
  io.field("device_s", trace.device);
  io.field("host_gaps_s", trace.host_gaps);
  io.field("device_gaps_s", trace.device_gaps);
  io.field("other_gaps_s", trace.other_gaps);
  io.field("longest_gap_s", trace.longest_gap);
  io.field("launches", trace.launches);
  io.field("sm_clock_counted_hz", trace.sm_clock_counted);
  io.field("kernels", trace.kernels);
  io.late_field("ranges", trace.ranges);
  io.late_field("range_kernels", trace.range_kernels);
  io.late_field("phases", trace.phases);
  io.late_field("parts", trace.parts);
  io.late_field("attention", trace.attention);
  io.field("timeline", trace.timeline);
  io.field("without_launch", trace.without_launch);
  io.field("dropped", trace.dropped);
}

static void fields(auto& io, Like<Verification> auto& verification) {
  io.field("passed", verification.passed);
  io.field("reference", verification.reference);
  io.field("worst_error", verification.worst_error);
  io.field("worst_where", verification.worst_where);
  io.field("message", verification.message);
}

static void fields(auto& io, Like<HostTimes> auto& times) {
  io.field("build_s", times.build);
  io.field("verification_s", times.verification);
  io.field("sampling_s", times.sampling);
  io.field("memory_pass_s", times.memory_pass);
  io.field("trace_s", times.trace);
  io.field("second_verification_s", times.second_verification);
}

/// All fields of a record except its family and its parameters.
static void fields(auto& io, Like<Record> auto& record) {
  io.name("status", record.status, &parse_enum<Status>);
  io.text_unless_empty("reason", record.reason);
  io.field("repetition_index", record.repetition_index);
  io.field("repetitions", record.repetitions);
  io.number_unless_zero("machine", record.machine);
  io.field("timing", record.timing);
  io.field("work", record.work);
  io.field("datasheet_peak_flop_per_s", record.peak_at_clock);
  io.field("boost_peak_flop_per_s", record.boost_peak);
  io.field("ceiling_per_second", record.ceiling_per_second);
  io.field("floor_s", record.floor);
  io.field("queue_gap_s", record.queue_gap);
  io.field("device", record.device);
  io.field("memory", record.memory);
  io.field("trace", record.trace);
  io.field("verification", record.verification);
  io.field("requested_bytes", record.requested_bytes);
  io.field("counters", record.counters);
  io.late_field("findings", record.labels);
  io.field("harness_s", record.harness);
  io.field("host_times", record.host_times);
}

static void fields(auto& io, Like<GpuFacts> auto& gpu) {
  io.field("name", gpu.name);
  io.field("uuid", gpu.uuid);
  io.field("compute_capability", gpu.compute_capability);
  io.field("sm_count", gpu.sm_count);
  io.field("memory_bytes", gpu.memory_bytes);
  io.field("l2_bytes", gpu.l2_bytes);
  io.field("ecc", gpu.ecc);
  io.field("mig", gpu.mig);
  io.field("power_limit_w", gpu.power_limit_w);
  io.field("max_sm_clock_hz", gpu.max_sm_clock_hz);
  io.field("other_processes", gpu.other_processes);
}

static void fields(auto& io, Like<CpuLimits> auto& limits) {
  io.field("affinity", limits.affinity);
  io.field("quota", limits.quota);
}

static void fields(auto& io, Like<Machine> auto& machine) {
  io.field("gpu_uuid", machine.gpu_uuid);
  io.field("cpu_name", machine.cpu_name);
  io.field("cpu_cores", machine.cpu_cores);
  io.field("date", machine.date);
}

static void fields(auto& io, Like<Environment> auto& environment) {
  io.field("gpu", environment.gpu);
  io.field("cpu_name", environment.cpu_name);
  io.field("cpu_cores", environment.cpu_cores);
  io.field("cpu_limits", environment.cpu_limits);
  io.field("operating_system", environment.operating_system);
  io.field("clock_policy", environment.clock_policy);
  io.field("versions", environment.versions);
  io.field("commit", environment.commit);
  io.field("sources_digest", environment.sources_digest);
  io.text_unless_empty("diff_digest", environment.diff_digest);
  io.field("build_type", environment.build_type);
  io.text_unless_empty("compile_options", environment.compile_options);
  io.text_unless_empty("variant", environment.variant);
  io.field("date", environment.date);
  io.list_unless_empty("machines", environment.machines);
}

namespace {

Json parameters_to_json(const CaseId& id, const std::string& where) {
  FieldWriter out{where};
  for (const auto& [key, value] : id.parameters()) {
    if (out.contains(key)) throw std::invalid_argument{fmt::format("{}: given twice", out.path(key))};
    out.field(key, value);
  }
  return std::move(out).take();
}

std::vector<CaseId::Parameter> parameters_from_json(const Json& json, const std::string& where) {
  FieldReader in{json, where};
  std::vector<CaseId::Parameter> parameters;
  for (const auto& [key, value] : json.items())
    parameters.emplace_back(key, from_value<std::string>(value, in.path(key)));
  return parameters;
}

}  // namespace

Json record_to_json(const Record& record) {
  const std::string where = record.id.name();
  if (const auto broken = contradiction_of(record))
    throw std::invalid_argument{RuleError{"", record.id, *broken}.what()};
  FieldWriter out{where};
  out.field("family", record.id.family());
  Json json = std::move(out).take();
  json["parameters"] = parameters_to_json(record.id, where + ".parameters");
  json.update(to_object(record, where));
  return json;
}

Record record_from_json(const Json& json, const std::string& where) {
  FieldReader in{json, where};
  Record record;
  std::string family;
  in.field("family", family);
  record.id = CaseId{std::move(family), parameters_from_json(in.at("parameters"), in.path("parameters"))};
  fields(in, record);
  in.finish();
  if (const auto broken = contradiction_of(record)) throw RuleError{where, record.id, *broken};
  return record;
}

Json environment_to_json(const Environment& environment) { return to_object(environment, "environment"); }

Environment environment_from_json(const Json& json, const std::string& where) {
  return from_object<Environment>(json, where);
}

}  // namespace tbench::results
