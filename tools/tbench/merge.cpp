// `tbench merge`: joins the shards or parts of a run into one results file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "help/messages.hpp"
#include "help/outputs.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/merge.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_writer.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kExitIncomplete = 1;

struct MergeArguments {
  std::vector<std::string> files;
  std::string out;
};

void check_out(const MergeArguments& arguments) {
  results::ResultWriter::check_writable(arguments.out);
  check_no_input({.flag = "-o", .path = arguments.out, .endings = {".json", ".gz"}}, arguments.files);
  if (!results::has_journal(arguments.out)) return;
  throw UsageError{
      fmt::format("-o: '{0}.journal' belongs to a run that was cut short: resume it with --tb_resume, or "
                  "give another name than '{0}'",
                  arguments.out)};
}

[[noreturn]] void refuse_to_replace(const std::string& path, const std::string& why) {
  throw UsageError{
      fmt::format("-o: '{}' exists already and {}. Give another name, or remove it if nobody needs it.", path, why)};
}

/// Checks that replacing the output loses no results. The same parts may be merged again, with more or newer files. If
/// the output has results of other cases, replacing it would lose them. It would also lose the results of an input that
/// `-o a.json b.json` names as the output by mistake.
void check_replaced(const MergeArguments& arguments, std::span<const Record> merged) {
  std::error_code missing;
  if (!fs::is_regular_file(arguments.out, missing)) return;
  std::vector<Record> before;
  try {
    before = results::read_result_file(arguments.out).records;
  } catch (const UsageError&) {
    refuse_to_replace(arguments.out, "holds something else than results");
  }
  if (arguments.files.size() == 1) refuse_to_replace(arguments.out, "is not among the files to merge");
  std::set<std::pair<std::string, std::int64_t>> replaced;
  for (const Record& record : merged) replaced.emplace(record.id.name(), record.repetition_index);
  const auto lost = std::ranges::find_if(before, [&](const Record& record) {
    return !replaced.contains({record.id.name(), record.repetition_index});
  });
  if (lost == before.end()) return;
  refuse_to_replace(arguments.out, fmt::format("has a run of {} that the files to merge have not", lost->id.name()));
}

/// Reads a file together with the journal of a killed run.
results::ResultFile read(const std::string& path) {
  results::ResultFile file = results::read_result_file(path);
  if (!results::has_journal(path)) return file;
  file = results::load_for_resume(path).value();
  file.interrupted = true;
  return file;
}

int run(const MergeArguments& arguments) {
  check_out(arguments);
  std::vector<results::NamedResults> parts;
  for (const std::string& path : arguments.files) parts.push_back({path, read(path)});
  compare::Merged merged;
  try {
    merged = compare::merge(std::move(parts));
  } catch (const compare::NotComparable& error) {
    say(fmt::format("tbench: cannot be merged: {}", error.what()));
    return compare::kExitNotComparable;
  }
  check_replaced(arguments, merged.file.records);
  try {
    results::write_result_file(arguments.out, merged.file);
  } catch (const results::WriteError& error) {
    throw UsageError{fmt::format("-o: {}", error.what())};
  }
  results::refuse_locked(arguments.out, "-o");  // a run that began in the meantime would replace the output
  for (const std::string& text : merged.notes) note(text);
  std::set<std::string> cases;
  for (const Record& record : merged.file.records) cases.insert(record.id.name());
  print_line(
      fmt::format("{}: {} of {}", arguments.out, counted_in(cases, "case"), counted_in(arguments.files, "file")));
  if (merged.missing.empty()) return kExitOk;
  say(fmt::format("tbench: incomplete: missing {}; '{}' is marked as interrupted, and --tb_resume measures the rest",
                  join(merged.missing, "; "), arguments.out));
  return kExitIncomplete;
}

}  // namespace

void add_merge(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("merge", "Join the files of shards, or of parts of a run, into one");
  const auto arguments = std::make_shared<MergeArguments>();
  command
      ->add_option("FILE", arguments->files,
                   "Results of one machine model and one build: the shards of --tb_shard, or parts selected by "
                   "--benchmark_filter")
      ->required();
  command->add_option("-o,--output", arguments->out, "The file to write, compressed if its name ends in .gz")
      ->type_name("OUT")
      ->required();
  command->footer(
      "Exit: 0 the file is what an undivided run would have written; 1 it lacks shards or cases, and stderr names "
      "them; 2 "
      "usage or unreadable input; 3 different machines, builds or options. With 2 and 3, nothing is written.");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tbench::tool
