#include <nlohmann/json.hpp>

#include "tbench/profile/profile_page.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::profile {
namespace {

using results::Json;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
double seconds(double ns) { return ns * 1e-9; }

void add_durations(Json& json, const Durations& durations) {
  json["calls"] = durations.count();
  json["total_s"] = seconds(durations.total_ns());
  json["mean_s"] = seconds(durations.mean_ns());
  json["std_s"] = seconds(durations.std_ns());
  json["min_s"] = seconds(durations.min_ns());
  json["max_s"] = seconds(durations.max_ns());
}

/// Returns the labels of the range and its enclosing ranges, the outermost first.
Json path_of(const Profile& profile, const RangeTime& range) {
  std::vector<std::string> path{range.label};
  for (const RangeTime* outer = &range; outer->depth > 0;) {
    outer = &profile.ranges[outer->parent];
    path.insert(path.begin(), outer->label);
  }
  return path;
}

Json devices_of(const Profile& profile) {
  Json devices = Json::array();
  for (const DeviceTime& device : profile.devices) {
    devices.push_back({{"process", device.process},
                       {"device", device.device},
                       {"span_s", seconds(device.span_ns)},
                       {"busy_s", seconds(device.busy_ns)},
                       {"idle_share", device.idle_share()},
                       {"host_wait_s", seconds(device.gaps.host_ns)},
                       {"device_wait_s", seconds(device.gaps.device_ns)},
                       {"other_wait_s", seconds(device.gaps.other_ns)},
                       {"longest_gap_s", seconds(device.gaps.longest_ns)},
                       {"gaps", device.gaps.count},
                       {"kernels", device.kernels},
                       {"launches", device.launches},
                       {"host_bound", device.host_bound()}});
  }
  return devices;
}

Json calls_of(const std::vector<ApiTime>& calls) {
  Json array = Json::array();
  for (const ApiTime& call : calls) {
    Json& json = array.emplace_back(Json{{"name", call.name}});
    add_durations(json, call.durations);
  }
  return array;
}

Json copies_of(const std::vector<CopyTime>& copies) {
  Json array = Json::array();
  for (const CopyTime& copy : copies) {
    array.push_back(
        {{"name", copy.name}, {"count", copy.count}, {"bytes", copy.bytes}, {"total_s", seconds(copy.total_ns)}});
  }
  return array;
}

Json phases_of(const Profile& profile) {
  Json phases = Json::array();
  for (const PhaseTime& phase : profile.phases) {
    phases.push_back({{"phase", phase.name},
                      {"operations", phase.operations},
                      {"operations_by_time", phase.operations_by_time},
                      {"kernels", phase.kernels},
                      {"launches", phase.launches},
                      {"kernel_s", seconds(phase.kernel_ns)},
                      {"copy_s", seconds(phase.copy_ns)},
                      {"span_s", seconds(phase.span_ns)},
                      {"busy_s", seconds(phase.busy_ns)},
                      {"host_wait_s", seconds(phase.gaps.host_ns)},
                      {"device_wait_s", seconds(phase.gaps.device_ns)},
                      {"other_wait_s", seconds(phase.gaps.other_ns)},
                      {"longest_gap_s", seconds(phase.gaps.longest_ns)},
                      {"gaps", phase.gaps.count},
                      {"calls", calls_of(phase.calls)},
                      {"copies", copies_of(phase.copies)}});
  }
  return phases;
}

Json kernels_of(const Profile& profile) {
  Json kernels = Json::array();
  for (const KernelTime& kernel : profile.kernels) {
    Json& json = kernels.emplace_back(Json{{"phase", profile.phases[kernel.phase].name},
                                           {"name", kernel.name},
                                           {"class", to_string(kernel.kernel_class)}});
    add_durations(json, kernel.durations);
  }
  return kernels;
}

Json classes_of(const Profile& profile) {
  Json classes = Json::array();
  for (const ClassTime& time : profile.classes) {
    classes.push_back({{"phase", profile.phases[time.phase].name},
                       {"class", to_string(time.kernel_class)},
                       {"operations", time.operations},
                       {"total_s", seconds(time.total_ns)}});
  }
  return classes;
}

Json ranges_of(const Profile& profile) {
  Json ranges = Json::array();
  for (const RangeTime& range : profile.ranges) {
    ranges.push_back({{"path", path_of(profile, range)},
                      {"count", range.host.count()},
                      {"host_s", seconds(range.host.total_ns())},
                      {"host_min_s", seconds(range.host.min_ns())},
                      {"host_max_s", seconds(range.host.max_ns())},
                      {"host_std_s", seconds(range.host.std_ns())},
                      {"host_exclusive_s", seconds(range.host_exclusive_ns)},
                      {"operations", range.operations},
                      {"launches", range.launches},
                      {"gpu_span_s", seconds(range.gpu_span_ns)},
                      {"gpu_sum_s", seconds(range.gpu_sum_ns)},
                      {"gpu_busy_s", seconds(range.gpu_busy.total_ns())},
                      {"gpu_exclusive_s", seconds(range.gpu_exclusive_ns)}});
  }
  return ranges;
}

Json derived_ranges_of(const Profile& profile) {
  Json ranges = Json::array();
  for (const DerivedRange& range : profile.derived_ranges) {
    ranges.push_back({{"of", path_of(profile, profile.ranges[range.of])},
                      {"name", range.name},
                      {"host_s", seconds(range.host_ns)},
                      {"gpu_sum_s", seconds(range.gpu_sum_ns)},
                      {"operations", range.operations},
                      {"launches", range.launches}});
  }
  return ranges;
}

Json range_kernels_of(const Profile& profile) {
  Json kernels = Json::array();
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    kernels.push_back({{"path", kernel.range ? path_of(profile, profile.ranges[*kernel.range]) : Json::array()},
                       {"phase", profile.phases[kernel.phase].name},
                       {"name", kernel.name},
                       {"class", to_string(kernel.kernel_class)},
                       {"operations", kernel.operations},
                       {"total_s", seconds(kernel.total_ns)}});
  }
  return kernels;
}

Json attention_of(const Profile& profile) {
  Json attention = Json::array();
  for (const AttentionTime& time : profile.attention) {
    attention.push_back({{"phase", profile.phases[time.phase].name},
                         {"softmax_s", seconds(time.softmax_ns)},
                         {"scores_matmul_s", seconds(time.scores_ns)},
                         {"context_matmul_s", seconds(time.context_ns)},
                         {"other_s", seconds(time.other_ns)}});
  }
  return attention;
}

}  // namespace

std::string profile_json(const Profile& profile, std::int64_t steps, const std::string& command) {
  Json json{{"steps", steps},
            {"operations", profile.operations},
            {"operations_s", seconds(profile.operations_ns)},
            {"operations_without_launch", profile.operations_without_launch},
            {"operations_without_range", profile.operations_without_range},
            {"operations_by_time", profile.operations_by_time},
            {"graph_replays", profile.graph_replays},
            {"other_share", profile.other_share()},
            {"devices", devices_of(profile)},
            {"phases", phases_of(profile)},
            {"kernels", kernels_of(profile)},
            {"classes", classes_of(profile)},
            {"ranges", ranges_of(profile)},
            {"derived_ranges", derived_ranges_of(profile)},
            {"range_kernels", range_kernels_of(profile)},
            {"attention", attention_of(profile)},
            {"calls", calls_of(profile.calls)},
            {"copies", copies_of(profile.copies)}};
  return results::pretty(results::concluded("profile", profile_conclusion(profile, command), std::move(json)));
}

}  // namespace tbench::profile
