#include "tbench/report/result_file.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "result_parsing.hpp"
#include "tbench/report/durable_file.hpp"

namespace tbench::report {
namespace {

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
  write_atomically(path, pretty(result_file_to_json(file)));
}

}  // namespace tbench::report
