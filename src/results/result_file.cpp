#include "tbench/results/result_file.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::results {
namespace {

using Callback = Json::parser_callback_t;

/// Whether the text ends before its JSON does.
bool is_cut_off(const std::string& text, const nlohmann::json::parse_error& error) { return error.byte > text.size(); }

Json parse(const std::string& path, const std::string& text, const Callback& callback) {
  if (text.empty()) refuse_file(path, "the file is empty", kMakeResultFile);
  try {
    return Json::parse(text, callback);
  } catch (const nlohmann::json::parse_error& error) {
    if (is_cut_off(text, error)) {
      refuse_file(path, fmt::format("the file is cut off after {} bytes", text.size()),
                  "copy it again, or run transformer_bench again (with --tb_resume where a journal is beside it)");
    }
    refuse_file(path, fmt::format("not JSON, at byte {}", error.byte), kMakeResultFile);
  } catch (const nlohmann::json::exception& error) {
    refuse_file(path, fmt::format("not JSON: {}", error.what()), kMakeResultFile);
  }
}

Json checked(const std::string& path, Json json) {
  if (!json.is_object() || !json.contains("context") || !json.contains("benchmarks") ||
      !json.at("context").is_object()) {
    refuse_file(path, "JSON, but not of a benchmark: 'context' and 'benchmarks' are missing", kMakeResultFile);
  }
  return json;
}

void check_kind(const std::string& path, const Json& json) {
  const Json& context = json.at("context");
  if (!context.contains("tbench")) {
    refuse_file(path, "Google Benchmark's own JSON, without 'context.tbench'", kMakeResultFile);
  }
  const Json& run = context.at("tbench");
  if (!run.is_object() || !run.contains("schema_version")) return;
  if (const auto problem = unreadable_version(run.at("schema_version"))) {
    refuse_file(path, *problem, "use the program of the build that wrote the file, or measure again");
  }
}

}  // namespace

void refuse_file(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw UsageError{fmt::format("'{}': {}; {}", path, problem, remedy)};
}

std::string read_text(const std::string& path) {
  std::string content;
  try {
    content = read_whole_file(path);
  } catch (const std::system_error& error) {
    refuse_file(path, fmt::format("cannot be read: {}", error.code().message()), kMakeResultFile);
  }
  if (!is_packed_name(path)) {
    if (is_packed(content)) refuse_file(path, "packed by gzip", "give it a name that ends in .gz");
    return content;
  }
  try {
    return unpack(content);
  } catch (const std::runtime_error& error) {
    refuse_file(path, error.what(),
                is_packed(content) ? "copy it again, or run transformer_bench again (with --tb_resume where a journal "
                                     "is beside it)"
                                   : "pack it with gzip, or give it a name without .gz");
  }
}

Json parse_entries(const std::string& path, const std::string& text,
                   const std::function<void(const Json& entry)>& on_entry) {
  constexpr int kKeyOfFile = 1;  // depth of `context` and `benchmarks`
  constexpr int kEntry = 2;
  bool is_in_benchmarks = false;
  const Callback callback = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == kKeyOfFile) is_in_benchmarks = value == "benchmarks";
    if (event != Json::parse_event_t::object_end || depth != kEntry || !is_in_benchmarks) return true;
    on_entry(value);
    return false;
  };
  return checked(path, parse(path, text, callback));
}

Json parse_file(const std::string& path, const std::string& text) {
  return checked(path, parse(path, text, Callback{}));
}

ResultFile read_result_file(const std::string& path) {
  const Json json = parse_file(path, read_text(path));
  check_kind(path, json);
  try {
    return result_file_from_json(json);
  } catch (const std::exception& error) {
    refuse_file(path, error.what(), "the file was changed after it was written, or by another program: measure again");
  }
}

void write_result_file(const std::string& path, const ResultFile& file) {
  const std::string text = pretty(result_file_to_json(file));
  write_atomically(path, is_packed_name(path) ? pack(text) : text);
}

std::vector<Record> select_records(std::span<const Record> records, const std::string& filter) {
  if (filter.empty()) return {records.begin(), records.end()};
  const CaseFilter passes{filter, "--filter"};
  std::vector<Record> selected;
  for (const Record& record : records) {
    if (passes(record.id.name())) selected.push_back(record);
  }
  if (selected.empty()) {
    const std::string example =
        records.empty() ? "the file has no cases" : "the first case is " + records.front().id.name();
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; {}", records.size(), filter, example)};
  }
  return selected;
}

}  // namespace tbench::results
