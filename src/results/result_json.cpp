// The layout of a results file, and its header.
#include "tbench/results/result_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/old_records.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/record_rules.hpp"

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

std::int64_t schema_version_of(const Json& context) {
  if (!context.is_object()) return kSchemaVersion;
  const auto run = context.find("tbench");
  if (run != context.end()) return schema_version_of(*run);
  const auto version = context.find("schema_version");
  const bool is_told = version != context.end() && version->is_number_integer();
  return is_told ? version->get<std::int64_t>() : kSchemaVersion;
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

/// Returns `context.tbench`: the data that all records share.
Json run_to_json(const ResultFile& file) {
  FieldWriter out{"context.tbench"};
  out.field("schema_version", kSchemaVersion);
  Json json = std::move(out).take();
  json["environment"] = environment_to_json(file.environment);
  json["options"] = to_value(file.options, "context.tbench.options");
  if (file.interrupted) json["interrupted"] = true;
  if (file.other_processes_at_end) json["other_processes_at_end"] = *file.other_processes_at_end;
  if (!file.plan.empty()) json["plan"] = file.plan;
  return json;
}

void read_run(FieldReader& in, ResultFile& file) {
  check_schema_version(in);
  file.environment = environment_from_json(in.at("environment"), in.path("environment"));
  in.field("options", file.options);
  std::optional<bool> interrupted;
  in.field("interrupted", interrupted);
  file.interrupted = interrupted.value_or(false);
  in.field("other_processes_at_end", file.other_processes_at_end);
  std::optional<std::vector<std::string>> plan;
  in.field("plan", plan);
  file.plan = std::move(plan).value_or(std::vector<std::string>{});
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
  json["caches"] = Json::array();  // a processor's caches do not matter for cases on a GPU
  json["load_avg"] = to_value(file.host.load_avg, "context.load_avg");
  json["library_build_type"] = "release";
  json["tbench"] = run_to_json(file);
  return json;
}

/// Checks that a field of Google Benchmark equals the field under `tbench` that it repeats.
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

/// Appends the elements between brackets: `first` precedes the first element, `next` every other element, and `last`
/// the closing bracket.
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

}  // namespace

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
  const std::int64_t version = schema_version_of(in.at("context"));
  read_context(in.at("context"), file);
  file.records = records_of_entries(in.at("benchmarks"), version);
  for (const Record& record : file.records) check_machine(record, file.environment, "benchmarks");
  if (version < kVersionOfBoostPeaks) complete_old_records(file);
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
