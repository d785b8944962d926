#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "profile/files/trace_events.hpp"
#include "profile/files/trace_tracks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/trace_file.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::profile {
namespace {

using results::Json;
using results::refuse_file;

constexpr const char* kGiveTrace = "give a folder of --tb_profile or 'tbench nsys -o'";
constexpr const char* kAgain = "copy it again, or make it again with 'tbench nsys FILE.sqlite -o FOLDER'";

std::string file_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  std::string file = (std::filesystem::path{path} / kTraceFileName).string();
  if (!std::filesystem::exists(file, error)) {
    refuse_file(path, fmt::format("is a folder without {}", kTraceFileName), kGiveTrace);
  }
  return file;
}

std::string text_of(const std::string& path) {
  std::string content;
  try {
    content = results::read_whole_file(path);
  } catch (const std::system_error& error) {
    refuse_file(path,
                error.code() == std::errc::no_such_file_or_directory
                    ? "no such file or folder"
                    : fmt::format("cannot be read: {}", error.code().message()),
                kGiveTrace);
  }
  if (content.empty()) refuse_file(path, "the file is empty", kAgain);
  if (!results::is_packed(content)) return content;
  try {
    return results::unpack(content);
  } catch (const std::runtime_error& error) {
    refuse_file(path, error.what(), kAgain);
  }
}

/// Passes the header and each event to TraceEvents while parsing, without keeping the parsed JSON.
class Reader {
 public:
  TraceFile read(const std::string& text) {
    results::check_nesting(text);
    const Json rest = Json::parse(
        text, [this](int depth, Json::parse_event_t event, Json& value) { return take(depth, event, value); });
    if (!rest.is_object() || !has_events_) throw std::runtime_error{"JSON, but no trace: 'traceEvents' is missing"};
    return std::move(events_).take();
  }

 private:
  static constexpr int kKey = 1;    // depth of the file's keys, and of the ends of their values
  static constexpr int kEvent = 2;  // depth of an event in the array `traceEvents`

  bool take(int depth, Json::parse_event_t event, Json& value) {
    using Kind = Json::parse_event_t;
    if (depth == 0 && event == Kind::array_start) {
      throw std::runtime_error{"an array, maybe a trace of another program: ours is an object with 'tbench'"};
    }
    if (depth == kKey && event == Kind::key) return begin_key(value.get_ref<const std::string&>());
    const bool is_end = event == Kind::object_end || event == Kind::array_end || event == Kind::value;
    if (depth == kKey && is_end && key_ == kTraceHeader) events_.read_header(value);
    if (key_ != "traceEvents") return true;
    if (depth == kKey && event == Kind::array_start) has_events_ = true;
    if (depth != kEvent || !is_end) return true;
    events_.add(value);
    return false;
  }

  bool begin_key(const std::string& key) {
    key_ = key;
    if (key_ != "traceEvents" || events_.has_header()) return true;
    throw std::runtime_error{
        fmt::format("a trace of another program: there is no '{}' before 'traceEvents'", kTraceHeader)};
  }

  std::string key_;
  bool has_events_{};
  TraceEvents events_;
};

}  // namespace

TraceFile read_trace_file(const std::string& path) {
  const std::string file = file_of(path);
  const std::string text = text_of(file);
  try {
    return Reader{}.read(text);
  } catch (const nlohmann::json::parse_error& error) {
    if (error.byte > text.size())
      refuse_file(file, fmt::format("the trace is cut off after {} bytes", text.size()), kAgain);
    refuse_file(file, fmt::format("not JSON, at byte {}", error.byte), kGiveTrace);
  } catch (const nlohmann::json::exception& error) {
    refuse_file(file, fmt::format("not JSON: {}", error.what()), kGiveTrace);
  } catch (const std::runtime_error& error) {
    refuse_file(file, error.what(), kGiveTrace);
  }
}

}  // namespace tbench::profile
