#include "result_parsing.hpp"

#include <fmt/format.h>

#include <system_error>

#include "tbench/core/error.hpp"
#include "tbench/report/durable_file.hpp"

namespace tbench::report {
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

}  // namespace

void refuse_file(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw UsageError{fmt::format("'{}': {}; {}", path, problem, remedy)};
}

std::string read_text(const std::string& path) {
  try {
    return read_whole_file(path);
  } catch (const std::system_error& error) {
    refuse_file(path, fmt::format("cannot be read: {}", error.code().message()), kMakeResultFile);
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

}  // namespace tbench::report
