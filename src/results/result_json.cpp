#include "tbench/results/result_json.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tbench/results/json_fields.hpp"

namespace tbench::results {

static void fields(auto& io, Like<HostFacts> auto& host) {
  io.field("executable", host.executable);
  io.field("mhz_per_cpu", host.mhz_per_cpu);
  io.field("cpu_scaling_enabled", host.cpu_scaling_enabled);
  io.field("load_avg", host.load_avg);
}

std::optional<std::string> unreadable_version(const Json& version) {
  if (version.is_number_integer() && version >= kOldestSchemaVersion && version <= kSchemaVersion) return std::nullopt;
  return fmt::format("schema version {}, and this program reads versions {} to {}", compact(version),
                     kOldestSchemaVersion, kSchemaVersion);
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {

void check_schema_version(FieldReader& in) {
  std::int64_t version{};
  in.field("schema_version", version);
  if (const auto problem = unreadable_version(version)) {
    throw std::runtime_error{fmt::format("{}: {}", in.path("schema_version"), *problem)};
  }
}

/// `context.tbench`: what all records share.
Json run_to_json(const ResultFile& file) {
  FieldWriter out{"context.tbench"};
  out.field("schema_version", kSchemaVersion);
  Json json = std::move(out).take();
  json["environment"] = environment_to_json(file.environment);
  json["options"] = to_value(file.options, "context.tbench.options");
  if (file.interrupted) json["interrupted"] = true;
  return json;
}

void read_run(FieldReader& in, ResultFile& file) {
  check_schema_version(in);
  file.environment = environment_from_json(in.at("environment"), in.path("environment"));
  in.field("options", file.options);
  std::optional<bool> interrupted;
  in.field("interrupted", interrupted);
  file.interrupted = interrupted.value_or(false);
  in.finish();
}

Json context_to_json(const ResultFile& file) {
  FieldWriter out{"context"};
  out.field("date", file.environment.date);
  out.field("executable", file.host.executable);
  out.field("num_cpus", file.environment.cpu_cores);
  out.field("mhz_per_cpu", file.host.mhz_per_cpu);
  out.field("cpu_scaling_enabled", file.host.cpu_scaling_enabled);
  Json json = std::move(out).take();
  json["caches"] = Json::array();  // what Google Benchmark tells of the processor's caches matters to no GPU case
  json["load_avg"] = to_value(file.host.load_avg, "context.load_avg");
  json["library_build_type"] = "release";
  json["tbench"] = run_to_json(file);
  return json;
}

/// Google Benchmark's fields repeat what `tbench` holds, and have to say the same.
void check_repeated_field(const Json& repeated, const Json& original, const std::string& where) {
  if (repeated == original) return;
  throw std::runtime_error{
      fmt::format("{}: {} contradicts {} under 'tbench'", where, compact(repeated), compact(original))};
}

void read_context(const Json& json, ResultFile& file) {
  FieldReader in{json, "context"};
  FieldReader run{in.at("tbench"), "context.tbench"};
  read_run(run, file);
  in.field("executable", file.host.executable);
  in.field("mhz_per_cpu", file.host.mhz_per_cpu);
  in.field("cpu_scaling_enabled", file.host.cpu_scaling_enabled);
  in.field("load_avg", file.host.load_avg);
  check_repeated_field(in.at("date"), file.environment.date, in.path("date"));
  check_repeated_field(in.at("num_cpus"), file.environment.cpu_cores, in.path("num_cpus"));
}

bool is_plain(const Json& json) { return !json.is_object() && !json.is_array(); }

bool is_one_line(const Json& json) {
  if (!json.is_array()) return false;
  for (const Json& element : json) {
    if (!is_plain(element)) return false;
  }
  return true;
}

void append_pretty(const Json& json, std::size_t indent, std::string& text);

/// Elements between brackets, each after `first` or `next`, the closing bracket after `last`.
void append_elements(const Json& json, std::size_t indent, const std::string& first, const std::string& next,
                     const std::string& last, std::string& text) {
  const std::string* separator = &first;
  text += json.is_object() ? '{' : '[';
  for (const auto& [key, element] : json.items()) {
    text += *separator;
    if (json.is_object()) text += fmt::format("{}: ", compact(Json(key)));
    append_pretty(element, indent, text);
    separator = &next;
  }
  text += last;
  text += json.is_object() ? '}' : ']';
}

void append_pretty(const Json& json, std::size_t indent, std::string& text) {
  if (is_plain(json) || json.empty()) {
    text += compact(json);
  } else if (is_one_line(json)) {
    append_elements(json, indent, "", ", ", "", text);
  } else {
    const std::string inner = fmt::format("\n{:{}}", "", indent + 2);
    append_elements(json, indent + 2, inner, fmt::format(",{}", inner), fmt::format("\n{:{}}", "", indent), text);
  }
}

/// The first number of a file of the kernel's, if there is one.
std::optional<double> number_in(const char* path) {
  std::ifstream file{path};
  double number{};
  if (file >> number) return number;
  return std::nullopt;
}

}  // namespace

HostFacts read_host_facts(std::string executable) {
  HostFacts host;
  host.executable = std::move(executable);
  constexpr double kKilohertzPerMegahertz = 1e3;
  if (const auto khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
    host.mhz_per_cpu = *khz / kKilohertzPerMegahertz;
  }
  std::string governor;
  if (std::ifstream{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"} >> governor) {
    host.cpu_scaling_enabled = governor != "performance";
  }
  std::array<double, 3> loads{};
  const int count = ::getloadavg(loads.data(), static_cast<int>(loads.size()));
  for (int i = 0; i < count; ++i) host.load_avg.push_back(loads.at(static_cast<std::size_t>(i)));
  return host;
}

Json header_to_json(const ResultFile& file) {
  Json json = run_to_json(file);
  json["host"] = to_object(file.host, "host");
  return json;
}

ResultFile header_from_json(const Json& json, const std::string& where) {
  FieldReader in{json, where};
  ResultFile file;
  file.host = from_object<HostFacts>(in.at("host"), in.path("host"));
  read_run(in, file);
  return file;
}

Json result_file_to_json(const ResultFile& file) {
  Json json = Json::object();
  json["context"] = context_to_json(file);
  json["benchmarks"] = benchmark_entries(file.records);
  return json;
}

ResultFile result_file_from_json(const Json& json) {
  FieldReader in{json, "file"};
  ResultFile file;
  read_context(in.at("context"), file);
  file.records = records_of_entries(in.at("benchmarks"));
  in.finish();
  return file;
}

std::string pretty(const Json& json) {
  std::string text;
  append_pretty(json, 0, text);
  text += '\n';
  return text;
}

}  // namespace tbench::results
