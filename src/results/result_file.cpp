// Results files on the disk (result_file.hpp), and the journal beside one while its run goes on (result_writer.hpp).
#include "tbench/results/result_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/result_writer.hpp"

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

namespace fs = std::filesystem;

std::string journal_path(const std::string& path) { return path + ".journal"; }

bool is_same_run(const Record& a, const Record& b) { return a.id == b.id && a.repetition_index == b.repetition_index; }

/// Replaces the record of the same case and repetition, or appends.
void merge(std::vector<Record>& records, Record record) {
  const auto found = std::ranges::find_if(records, [&](const Record& other) { return is_same_run(other, record); });
  if (found == records.end()) {
    records.push_back(std::move(record));
  } else {
    *found = std::move(record);
  }
}

/// The value of one line; nothing if the line is torn.
std::optional<Json> parse_line(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

[[noreturn]] void refuse_journal(const std::string& path, const std::string& problem) {
  throw UsageError{fmt::format("'{}': {}; remove it to go on without its records", path, problem)};
}

/// A journal's run; nothing if the program died before the header was whole.
std::optional<ResultFile> read_journal(const std::string& path) {
  std::vector<std::string> lines = split(read_whole_file(path), '\n');
  lines.pop_back();  // after the last newline: empty, or the start of a torn line
  std::optional<ResultFile> run;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = fmt::format("line {}", i + 1);
    const std::optional<Json> json = parse_line(lines[i]);
    if (!json && i + 1 == lines.size()) break;  // the machine died while the last line was on its way to the disk
    if (!json) refuse_journal(path, where + " is torn");
    try {
      if (!run) {
        run = header_from_json(*json, where);
      } else {
        merge(run->records, record_from_json(*json, where));
      }
    } catch (const std::exception& error) {
      refuse_journal(path, error.what());
    }
  }
  return run;
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

std::optional<ResultFile> load_for_resume(const std::string& path) {
  // The journal first: a run that ends meanwhile has put all of it into the file before it goes.
  const std::string beside = journal_path(path);
  std::optional<ResultFile> journal;
  if (fs::exists(beside)) journal = read_journal(beside);
  std::optional<ResultFile> file;
  if (fs::exists(path)) file = read_result_file(path);
  if (!journal) return file;
  if (!file) return journal;
  if (const auto reason = incompatibility(file->environment, journal->environment)) {
    refuse_journal(beside, fmt::format("belongs to another run than '{}': {}", path, *reason));
  }
  for (Record& record : journal->records) merge(file->records, std::move(record));
  return file;
}

void check_resumable(const std::string& path, const ResultFile& earlier, const Environment& now) {
  if (const auto reason = incompatibility(earlier.environment, now)) {
    throw UsageError{
        fmt::format("--tb_resume: '{}' cannot be gone on with: {}; give another --benchmark_out, or leave "
                    "--tb_resume out to start afresh",
                    path, *reason)};
  }
}

ResultWriter::ResultWriter(std::string path, ResultFile start, std::chrono::nanoseconds interval)
    : path_{std::move(path)}, file_{std::move(start)}, interval_{interval}, starts_afresh_{file_.records.empty()} {
  file_.interrupted = false;
}

ResultWriter::~ResultWriter() {
  if (!is_stale_) return;
  try {
    rewrite();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
}

/// The order keeps file and journal together whole at every moment: a journal of another run goes before its file is
/// replaced, one of this run only after everything in it is in the file.
void ResultWriter::begin() {
  if (starts_afresh_) fs::remove(journal_path(path_));
  rewrite();
  auto journal = std::make_unique<LineAppender>(journal_path(path_));
  journal->append(compact(header_to_json(file_)));
  journal_ = std::move(journal);
}

void ResultWriter::add(Record record) {
  const std::string line = compact(record_to_json(record));
  static_cast<void>(benchmark_entries({&record, 1}));  // what rewrite() could not write must not get into the journal
  if (journal_) {
    journal_->append(line);
    merge(file_.records, std::move(record));
    is_stale_ = true;
    if (std::chrono::steady_clock::now() - last_rewrite_ >= interval_) rewrite();
    return;
  }
  std::vector<Record> before = file_.records;
  merge(file_.records, std::move(record));
  try {
    begin();
  } catch (...) {
    file_.records = std::move(before);
    throw;
  }
}

void ResultWriter::rewrite() {
  write_result_file(path_, file_);
  last_rewrite_ = std::chrono::steady_clock::now();
  is_stale_ = false;
}

void ResultWriter::finish() {
  rewrite();
  journal_.reset();
  fs::remove(journal_path(path_));
}

void ResultWriter::check_writable(const std::string& path) {
  const auto refuse = [&](const std::string& problem, const char* remedy) {
    throw UsageError{fmt::format("cannot write results to '{}': {}; {}", path, problem, remedy)};
  };
  if (path.empty()) refuse("the name is empty", "give a file name");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) refuse("it is a folder", "give the name of a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("it is not a regular file", "give another name");
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) {
    refuse(std::generic_category().message(errno), "give another name, or change the file's permissions");
  }
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error)) {
    refuse(fmt::format("there is no folder '{}'", folder.string()), "make it, or give another name");
  }
  // Permission bits do not tell of a read-only file system or of a full one; making a file does.
  const std::string probe = fmt::format("{}.probe.{}", fs::absolute(path).string(), ::getpid());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    refuse(std::generic_category().message(errno), "give a name in a folder that can be written to");
  }
  ::close(descriptor);
  ::unlink(probe.c_str());
}

}  // namespace tbench::results
