// Reads and writes results files (result_file.hpp), and the journal next to a file during its run (result_writer.hpp).
#include "tbench/results/result_file.hpp"

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
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "results/disk/replacement_file.hpp"
#include "results/journal.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/hints/unmatched_filter.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/result_writer.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::results {
namespace {

using Callback = Json::parser_callback_t;

constexpr const char* kCopyAgain =
    "copy it again, or run transformer_bench again (with --tb_resume where a journal is beside it)";

/// Returns whether the text ends before its JSON does.
bool is_cut_off(const std::string& text, const nlohmann::json::parse_error& error) { return error.byte > text.size(); }

Json parse(const std::string& path, const std::string& text, const Callback& callback) {
  if (text.empty()) refuse_file(path, "the file is empty", kMakeResultFile);
  try {
    if (!callback) return parse_json(text);
    return Json::parse(text, callback);
  } catch (const NestedTooDeeply& error) {
    refuse_file(path, error.what(), kMakeResultFile);
  } catch (const nlohmann::json::parse_error& error) {
    if (is_cut_off(text, error)) {
      refuse_file(path, fmt::format("the file is cut off after {} bytes", text.size()), kCopyAgain);
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

/// Returns whether the text begins like JSON, so that it is not packed even if its name ends in `.gz`.
bool begins_as_json(std::string_view text) {
  constexpr std::string_view kBlanks{" \t\r\n"};
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

std::string unpacked(const std::string& path, const std::string& content) {
  try {
    return unpack(content);
  } catch (const UnpacksToTooMuch& error) {
    refuse_file(path, error.what(), kMakeResultFile);
  } catch (const std::runtime_error& error) {
    refuse_file(path, error.what(),
                is_packed(content) ? kCopyAgain : "pack it with gzip, or give it a name without .gz");
  }
}

/// Returns the advice to give the results in a folder instead of the folder: `give the files in it: results/*.json`.
std::string files_in(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
    const std::string name = entry.path().filename().string();
    for (const char* const ending : {".json", ".json.gz"}) {
      if (name.ends_with(ending)) return fmt::format("give the files in it: {}", (folder / "*").string() + ending);
    }
  }
  return "give the results files of another folder, since it has none";
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
    if (error.code() == std::errc::is_a_directory) refuse_file(path, "is a folder", files_in(path));
    const bool is_missing = error.code() == std::errc::no_such_file_or_directory;
    refuse_file(path, is_missing ? "no such file" : fmt::format("cannot be read: {}", error.code().message()),
                kMakeResultFile);
  }
  const bool is_text = !is_packed(content) && (!is_packed_name(path) || begins_as_json(after_byte_order_mark(content)));
  std::string text = is_text ? std::move(content) : unpacked(path, content);
  text.erase(0, text.size() - after_byte_order_mark(text).size());
  return text;
}

Json parse_entries(const std::string& path, const std::string& text,
                   const std::function<void(const Json& entry, std::int64_t version)>& on_entry) {
  constexpr int kKeyOfFile = 1;  // depth of `context` and `benchmarks`
  constexpr int kEntry = 2;
  std::string key;
  std::int64_t version = kSchemaVersion;
  using Event = Json::parse_event_t;
  const Callback callback = [&](int depth, Event event, Json& value) {
    if (event == Event::object_start || event == Event::array_start) check_nesting(static_cast<std::size_t>(depth));
    if (event == Event::key && depth == kKeyOfFile) key = value.get_ref<const std::string&>();
    if (event == Event::object_end && depth == kKeyOfFile && key == "context") version = schema_version_of(value);
    if (event != Event::object_end || depth != kEntry || key != "benchmarks") return true;
    on_entry(value, version);
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
    std::vector<std::string> names;
    for (const Record& record : records) names.push_back(record.id.name());
    if (const auto meant = meant_filter(filter, names)) {
      throw UsageError{fmt::format("--filter: no case matches '{}'{}", filter, did_you_mean_text(meant))};
    }
    const std::string example =
        records.empty() ? "the file has no cases" : "the first case is " + records.front().id.name();
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; {}", records.size(), filter, example)};
  }
  return selected;
}

std::optional<ResultFile> load_for_resume(const std::string& path) {
  // The journal is read first: a run that ends meanwhile writes all records to the file before it removes the journal.
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
  file->environment.machines = journal->environment.machines;  // a run on another machine adds it
  if (file->environment.gpu) file->environment.gpu->uuid = journal->environment.gpu->uuid;
  for (Record& record : journal->records) merge(file->records, std::move(record));
  return file;
}

void check_resumable(const std::string& path, const ResultFile& earlier, const Environment& now) {
  if (const auto reason = incompatibility(earlier.environment, now)) {
    throw UsageError{
        fmt::format("--tb_resume: '{}' cannot be resumed: {}; give another --benchmark_out, or leave "
                    "--tb_resume out to start afresh",
                    path, *reason)};
  }
}

ResultWriter::ResultWriter(OutputLock lock, ResultFile start, std::chrono::nanoseconds interval)
    : lock_{std::move(lock)}, file_{std::move(start)}, interval_{interval}, starts_afresh_{file_.records.empty()} {
  file_.interrupted = false;
  file_.other_processes_at_end = std::nullopt;
}

ResultWriter::ResultWriter(std::string path, ResultFile start, std::chrono::nanoseconds interval)
    : ResultWriter{OutputLock{std::move(path)}, std::move(start), interval} {}

ResultWriter::~ResultWriter() {
  if (!is_stale_) return;
  try {
    rewrite();
  } catch (const std::exception& error) {
    if (!has_failed_) fmt::print(stderr, "{}\n", error.what());
  }
}

/// The order of the steps keeps file and journal consistent at every moment. The journal of another run is emptied
/// before that run's file is replaced. This run's journal is emptied only after the file has all of its records.
void ResultWriter::begin() {
  const std::string name = journal_path(lock_.path());
  if (starts_afresh_) LineAppender{name, lock_.journal()};
  rewrite();
  auto journal = std::make_unique<LineAppender>(name, lock_.journal());
  journal->append(journal_line(header_to_json(file_)));
  journal_ = std::move(journal);
}

void ResultWriter::add(Record record) {
  record = with_sound_reason(std::move(record));
  const std::string line = journal_line(record_to_json(record));
  static_cast<void>(benchmark_entries({&record, 1}));  // throws for a record that rewrite() could not write
  if (journal_) {
    has_failed_ = true;  // until the line is written
    journal_->append(line);
    has_failed_ = false;
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
  write_result_file(lock_.path(), file_);
  last_rewrite_ = std::chrono::steady_clock::now();
  is_stale_ = false;
}

void ResultWriter::finish() {
  rewrite();
  journal_.reset();
  fs::remove(journal_path(lock_.path()));
}

void ResultWriter::check_writable(const std::string& path) {
  const auto refuse = [&](const std::string& problem, std::string_view remedy) {
    throw UsageError{fmt::format("cannot write results to '{}': {}. {}", path, problem, remedy)};
  };
  const auto refuse_for = [&](int error) { refuse(std::generic_category().message(error), write_remedy(error)); };
  if (path.empty()) refuse("the name is empty", "Give a file name.");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) refuse("it is a folder", "Give the name of a file in it.");
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("it is not a regular file", "Give another name.");
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) refuse_for(errno);
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error)) {
    refuse(fmt::format("there is no folder '{}'", folder.string()), "Make it, or give another name.");
  }
  // Permission bits do not show whether the file system is read-only or full; a trial write does.
  constexpr std::size_t kProbe = 4096;
  try {
    ReplacementFile{without_links(path)}.write(std::string(kProbe, ' '));
  } catch (const WriteError& failure) {
    refuse_for(failure.code().value());
  }
}

}  // namespace tbench::results
