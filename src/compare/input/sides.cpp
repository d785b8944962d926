#include "tbench/compare/sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <thread>
#include <unordered_map>
#include <utility>

#include "compare/input/our_side.hpp"
#include "compare/input/plain_name.hpp"
#include "compare/input/plain_rows.hpp"
#include "compare/input/plain_side.hpp"
#include "compare/input/side_cases.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::compare {
namespace {

constexpr const char* kChangedRemedy = "it was edited, or written by another program; measure again";

/// The entries of a file, read both as records of this project and as plain rows. Only the context, which may follow
/// the entries, says which of the two they are.
struct Entries {
  std::vector<results::MeasuredCase> ours;  // with one replicate per case, in the file's order
  std::exception_ptr first_error;           // first error in an entry with a record
  PlainRows plain;
  results::FileRuns runs;
  std::size_t count{};

  void add(const results::Json& entry, std::int64_t version) {
    const std::string where = fmt::format("benchmarks[{}]", count++);
    const auto record = entry.find("tbench");  // if this is not an object, it is a counter with that name
    if (record == entry.end() || !record->is_object()) return plain.add(entry, where);
    if (first_error) return;
    try {
      add_ours(entry, where, version);
    } catch (const std::exception&) {
      first_error = std::current_exception();
    }
  }

 private:
  void add_ours(const results::Json& entry, const std::string& where, std::int64_t version) {
    const std::optional<Record> record = results::record_of_entry(entry, where, version);
    if (!record) return;
    runs.add(*record, where);
    ours.push_back(results::measured_case(*record));
  }
};

void check_schema(const std::string& path, const results::Json& context) {
  const results::Json& run = context.at("tbench");
  if (!run.is_object() || !run.contains("schema_version")) return;
  if (const auto problem = results::unreadable_version(run.at("schema_version"))) {
    throw NotComparable{fmt::format("'{}': {}; use the tbench of the build that wrote it", path, *problem)};
  }
}

/// Returns the side of a results file of this project.
/// @param rest  the file without its entries
ComparisonSide whole_side(const std::string& path, const results::Json& rest, Entries entries) {
  const results::ResultFile header = results::result_file_from_json(rest);
  if (entries.first_error) std::rethrow_exception(entries.first_error);
  if (!entries.plain.are_aggregates()) {
    throw std::runtime_error{"benchmarks: an entry that has no record is not an aggregate of others either"};
  }
  return our_side(path, header, std::move(entries.ours));
}

/// Returns the side of a killed run, whose last records are in the journal. They count like the others.
/// @param path  name of the file in warnings
/// @param file  path of the file
ComparisonSide side_with_journal(const std::string& path, const std::string& file) {
  ComparisonSide side = side_of(path, results::load_for_resume(file).value());
  side.warnings.push_back(fmt::format("'{}': the run was killed; its journal was read too", path));
  side.was_interrupted = true;
  return side;
}

/// Returns the side of a file with this text.
/// @param path  name of the file in warnings
/// @param file  path of the file
ComparisonSide side_of_text(const std::string& path, const std::string& file, const std::string& text) {
  Entries entries;
  const results::Json rest = results::parse_entries(
      file, text, [&](const results::Json& entry, std::int64_t version) { entries.add(entry, version); });
  const results::Json& context = rest.at("context");
  if (!context.contains("tbench")) return plain_side(path, file, rest, std::move(entries.plain));
  check_schema(file, context);
  if (results::has_journal(file)) return side_with_journal(path, file);
  return whole_side(path, rest, std::move(entries));
}

/// Returns the side of a text that is not valid JSON because of its numbers: Google Benchmark writes NaN and Infinity,
/// which JSON does not have. This project's writer does not.
/// @return  the side, or nullopt if the text has other errors
std::optional<ComparisonSide> side_of_odd_numbers(const std::string& path, const std::string& file,
                                                  const std::string& text) {
  const std::optional<std::string> readable = results::with_quoted_numbers(text);
  if (!readable) return std::nullopt;
  try {
    ComparisonSide side = side_of_text(path, file, *readable);
    return side.contexts.empty() ? std::nullopt : std::optional{std::move(side)};
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Reads a file without shortening plain names, because that depends on all files of the comparison.
ComparisonSide read_unmatched(const std::string& path, const std::filesystem::path& folder) {
  const std::string file = (folder / path).string();
  const std::string text = results::read_text(file);
  try {
    return side_of_text(path, file, text);
  } catch (const UsageError&) {
    if (std::optional<ComparisonSide> side = side_of_odd_numbers(path, file, text)) return *std::move(side);
    throw;
  } catch (const NotComparable&) {
    throw;
  } catch (const std::exception& error) {
    results::refuse_file(file, error.what(), kChangedRemedy);
  }
}

}  // namespace

ComparisonSide side_of(const std::string& path, const results::ResultFile& file) {
  std::vector<results::MeasuredCase> cases;
  for (const Record& record : file.records) cases.push_back(results::measured_case(record));
  return our_side(path, file, std::move(cases));
}

ComparisonSide read_side(const std::string& path, const std::filesystem::path& folder) {
  ComparisonSide side = read_unmatched(path, folder);
  match_plain_names({&side, 1});
  return side;
}

std::vector<ComparisonSide> read_sides(std::span<const std::string> paths, const std::filesystem::path& folder) {
  // Each reader holds the text of its file, so that at most one per processor runs at a time.
  std::counting_semaphore<> processors{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
  std::vector<std::future<ComparisonSide>> readers;
  readers.reserve(paths.size());
  for (const std::string& path : paths) {
    readers.push_back(std::async(std::launch::async, [&processors, &path, &folder] {
      struct Slot {
        std::counting_semaphore<>& semaphore;
        explicit Slot(std::counting_semaphore<>& s) : semaphore{s} { semaphore.acquire(); }
        ~Slot() { semaphore.release(); }
      };
      const Slot slot{processors};
      return read_unmatched(path, folder);
    }));
  }
  std::vector<ComparisonSide> sides;
  sides.reserve(paths.size());
  for (std::future<ComparisonSide>& reader : readers) sides.push_back(reader.get());
  match_plain_names(sides);
  return sides;
}

ComparisonSide merged(std::vector<ComparisonSide> sides) {
  ComparisonSide all;
  if (!sides.empty()) all.run = sides.front().run;
  if (!sides.empty()) all.way = sides.front().way;
  if (!sides.empty()) all.suite = sides.front().suite;
  std::unordered_map<std::string, std::size_t> index;
  for (ComparisonSide& side : sides) {
    std::ranges::move(side.paths, std::back_inserter(all.paths));
    std::ranges::move(side.environments, std::back_inserter(all.environments));
    std::ranges::move(side.options, std::back_inserter(all.options));
    std::ranges::move(side.contexts, std::back_inserter(all.contexts));
    std::ranges::move(side.warnings, std::back_inserter(all.warnings));
    std::ranges::move(side.shared_gpus, std::back_inserter(all.shared_gpus));
    if (all.planted.empty()) all.planted = std::move(side.planted);
    all.other_processes_at_end = std::max(all.other_processes_at_end, side.other_processes_at_end);
    all.was_interrupted = all.was_interrupted || side.was_interrupted;
    for (const auto& [key, processes] : side.planned) all.planned[key] += processes;
    add_cases(all, index, std::move(side.cases));
  }
  return all;
}

}  // namespace tbench::compare
