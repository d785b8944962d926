#include "tbench/report/result_file.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "tbench/core/error.hpp"
#include "tbench/report/durable_file.hpp"

namespace tbench::report {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw UsageError{fmt::format("'{}': {}; {}", path, problem, remedy)};
}

constexpr const char* kMakeOne = "give a file that transformer_bench wrote with --benchmark_out=FILE";

/// Whether the text ends before its JSON does.
bool is_cut_off(const std::string& text, const nlohmann::json::parse_error& error) { return error.byte > text.size(); }

Json parse(const std::string& path, const std::string& text) {
  if (text.empty()) refuse(path, "the file is empty", kMakeOne);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    if (is_cut_off(text, error)) {
      refuse(path, fmt::format("the file is cut off after {} bytes", text.size()),
             "copy it again, or run transformer_bench again (with --tb_resume where a journal is beside it)");
    }
    refuse(path, fmt::format("not JSON, at byte {}", error.byte), kMakeOne);
  } catch (const nlohmann::json::exception& error) {
    refuse(path, fmt::format("not JSON: {}", error.what()), kMakeOne);
  }
}

void check_kind(const std::string& path, const Json& json) {
  if (!json.is_object() || !json.contains("context") || !json.contains("benchmarks") ||
      !json.at("context").is_object()) {
    refuse(path, "JSON, but not of a benchmark: 'context' and 'benchmarks' are missing", kMakeOne);
  }
  const Json& context = json.at("context");
  if (!context.contains("tbench")) {
    refuse(path, "Google Benchmark's own JSON, without 'context.tbench'", kMakeOne);
  }
  const Json& run = context.at("tbench");
  if (run.is_object() && run.contains("schema_version") && run.at("schema_version") != kSchemaVersion) {
    refuse(path,
           fmt::format("schema version {}, and this program reads version {}", compact(run.at("schema_version")),
                       kSchemaVersion),
           "use the program of the build that wrote the file, or measure again");
  }
}

}  // namespace

ResultFile read_result_file(const std::string& path) {
  std::string text;
  try {
    text = read_whole_file(path);
  } catch (const std::system_error& error) {
    refuse(path, fmt::format("cannot be read: {}", error.code().message()), kMakeOne);
  }
  const Json json = parse(path, text);
  check_kind(path, json);
  try {
    return result_file_from_json(json);
  } catch (const std::exception& error) {
    refuse(path, error.what(), "the file was changed after it was written, or by another program: measure again");
  }
}

void write_result_file(const std::string& path, const ResultFile& file) {
  write_atomically(path, pretty(result_file_to_json(file)));
}

}  // namespace tbench::report
