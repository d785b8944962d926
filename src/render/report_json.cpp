// A results file for programs: the verdict on its run, and a short form of each case.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tbench/render/report_page.hpp"
#include "tbench/render/run_console.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::render {

// A record, which is written and never read. json_fields.hpp finds fields() through the namespace of its argument.
struct ShownCase {
  const Record* record;
};
static void fields(results::FieldWriter& out, const ShownCase& shown) {
  const Record& record = *shown.record;
  out.field("name", record.id.name());
  out.field("family", record.id.family());
  out.field("status", std::string{to_string(record.status)});
  out.text_unless_empty("reason", record.reason);
  if (record.repetitions > 1) out.field("repetition_index", record.repetition_index);
  if (record.timing) out.field("median_s", record.timing->median);
  out.text_unless_empty("note", note_of(record));
  out.field("counters", counters_of(record));
}

namespace {

using Texts = std::vector<std::string>;

constexpr const char* kProgram = "transformer_bench";

/// Returns the names of the records for which `counts` holds, each once.
Texts names_where(const std::vector<Record>& records, bool (*counts)(const Record&)) {
  Texts names;
  for (const Record& record : records) {
    const std::string name = record.id.name();
    if (counts(record) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

bool has_mark(const Record& record, const char* marks) {
  const Record* const one = &record;
  return marks_of({&one, 1}).find_first_of(marks) != std::string::npos;
}
bool is_not_sharp(const Record& record) { return has_mark(record, "*~"); }
bool is_host_bound(const Record& record) { return has_mark(record, "h"); }
bool has_failed(const Record& record) { return is_failure(record.status); }

/// Adds `CASE: NOTE` for the first few records for which `counts` holds.
void add_notes(Texts& why, const std::vector<Record>& records, bool (*counts)(const Record&)) {
  constexpr std::size_t kMaxTold = 3;
  std::size_t told = 0;
  for (const Record& record : records) {
    if (!counts(record) || told == kMaxTold) continue;
    why.push_back(fmt::format("{}: {}", record.id.name(), note_of(record)));
    ++told;
  }
}

std::map<std::string, std::int64_t> statuses_of(const std::vector<Record>& records) {
  std::map<std::string, std::int64_t> counts;
  for (const Record& record : records) ++counts[std::string{to_string(record.status)}];
  return counts;
}

/// Returns `2 incorrect, first CASE: REASON` for each status without a time.
Texts failures_of(const std::vector<Record>& records) {
  std::map<Status, Texts> by_status;
  for (const Record& record : records) {
    if (has_time(record.status)) continue;
    by_status[record.status].push_back(fmt::format("{}: {}", record.id.name(), record.reason));
  }
  Texts lines;
  for (const auto& [status, cases] : by_status) {
    lines.push_back(
        fmt::format("{} {}, {}{}", cases.size(), to_string(status), cases.size() == 1 ? "" : "first ", cases.front()));
  }
  return lines;
}

/// Returns the next command for host-bound cases: a report of their limits if the file has traces, otherwise a run that
/// traces them.
std::string after_host(const results::ResultFile& file, const std::string& path, const Texts& names) {
  const Texts words{"tbench", "report", "--limits", path};
  const auto is_traced = [](const Record& record) { return record.trace.has_value(); };
  if (std::ranges::any_of(file.records, is_traced)) return results::command_line(words);
  return results::trace_command(results::run_flags(file), names);
}

}  // namespace

results::Conclusion run_conclusion(const results::ResultFile& file, const std::string& path) {
  const std::vector<Record>& records = file.records;
  const results::RunFlags run = results::run_flags(file);
  results::Conclusion conclusion{.outcome = "OK", .why = failures_of(records)};
  for (const Finding& finding : findings_of(records)) conclusion.why.push_back(finding.text);
  const Texts failed = names_where(records, has_failed);
  const Texts not_sharp = names_where(records, is_not_sharp);
  const Texts host_bound = names_where(records, is_host_bound);
  if (!failed.empty()) {
    conclusion.outcome = "FAILED";
    conclusion.next = results::isolate_command(kProgram, run, failed);
  } else if (file.interrupted) {
    conclusion.outcome = "INTERRUPTED";
    Texts words{"--benchmark_out=" + path, "--tb_resume"};
    if (const auto processes = file.options.find("processes"); processes != file.options.end()) {
      words.push_back("--tb_processes=" + processes->second);
    }
    conclusion.next = fmt::format("{}{} {}", kProgram, results::flags_for(run, {}), results::command_line(words));
  } else if (records.empty()) {
    conclusion.outcome = "EMPTY";
  } else if (!not_sharp.empty()) {
    conclusion.outcome = "NOT_SHARP";
    add_notes(conclusion.why, records, is_not_sharp);
    conclusion.next = fmt::format("{}{} --benchmark_min_time=2 --benchmark_out=again.json", kProgram,
                                  results::flags_for(run, not_sharp));
  } else if (!host_bound.empty()) {
    conclusion.outcome = "HOST";
    add_notes(conclusion.why, records, is_host_bound);
    conclusion.next = after_host(file, path, host_bound);
  } else {
    const Texts words{"tbench", "report", path, "-o", "report.html"};
    conclusion.next = results::command_line(words);
  }
  if (file.interrupted) conclusion.why.emplace_back("the run was interrupted before its last case");
  if (conclusion.why.empty()) {
    conclusion.why.push_back(records.empty() ? "the file has no cases"
                                             : fmt::format("every time is sharp: {} of them", records.size()));
  }
  return conclusion;
}

std::string report_json(const results::ResultFile& file, const ReportOptions& options, const std::string& path) {
  results::ResultFile shown = file;
  shown.records = results::select_records(file.records, options.filter);
  std::vector<ShownCase> cases;
  for (const Record& record : shown.records) cases.push_back({&record});
  results::FieldWriter out{"report"};
  out.field("file", path);
  out.field("statuses", statuses_of(shown.records));
  out.field("cases", cases);
  return results::pretty(results::concluded("report", run_conclusion(shown, path), std::move(out).take()));
}

}  // namespace tbench::render
