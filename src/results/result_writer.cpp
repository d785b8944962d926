#include "tbench/results/result_writer.hpp"

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
#include <string>
#include <system_error>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {
namespace {

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
