#include "tbench/compare/comparison_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <thread>
#include <unordered_map>
#include <utility>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::compare {
namespace {

constexpr const char* kChangedRemedy = "it was edited, or written by another program; measure again";

/// Entries of one kind, and the first error among them.
struct Kind {
  std::vector<results::MeasuredCase> cases;  // one replicate each, in the file's order
  std::exception_ptr first_error;

  template <class Read>
  void add(Read read) {
    try {
      if (auto measured = read()) cases.push_back(*std::move(measured));
    } catch (const std::exception&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
};

/// The entries, both ways: the context, which may follow them, says whether the file is one of ours.
struct Entries {
  Kind ours;
  Kind plain;
  std::size_t count{};

  void add(const results::Json& entry) {
    const std::string where = fmt::format("benchmarks[{}]", count++);
    if (!entry.contains("tbench")) return plain.add([&] { return results::plain_case(entry, where); });
    ours.add([&]() -> std::optional<results::MeasuredCase> {
      const std::optional<Record> record = results::record_of_entry(entry, where);
      return record ? std::optional{results::measured_case(*record)} : std::nullopt;
    });
  }
};

void check_schema(const std::string& path, const results::Json& context) {
  const results::Json& run = context.at("tbench");
  if (!run.is_object() || !run.contains("schema_version")) return;
  if (const auto problem = results::unreadable_version(run.at("schema_version"))) {
    throw NotComparable{fmt::format("'{}': {}; use the tbench of the build that wrote it", path, *problem)};
  }
}

/// Adds the cases of a file; cases with the same key become one, with all replicates.
void add_cases(ComparisonSide& side, std::unordered_map<std::string, std::size_t>& index,
               std::vector<results::MeasuredCase> cases) {
  for (results::MeasuredCase& c : cases) {
    const auto [found, is_new] = index.emplace(c.key, side.cases.size());
    if (is_new) {
      side.cases.push_back(std::move(c));
    } else {
      std::ranges::move(c.replicates, std::back_inserter(side.cases[found->second].replicates));
    }
  }
}

ComparisonSide side_with(const std::string& path, std::vector<results::MeasuredCase> cases) {
  ComparisonSide side;
  side.paths = {path};
  std::unordered_map<std::string, std::size_t> index;
  add_cases(side, index, std::move(cases));
  return side;
}

/// What one process measured again and again, as the one replicate that it is: the median of its times, with the
/// interval that they give it.
results::Replicate one_process(const results::MeasuredCase& c) {
  results::Replicate process = c.replicates.front();
  const results::Replicate& worst = worst_of(c);
  process.status = worst.status;
  process.reason = worst.reason;
  process.peak_bytes = peak_of(c);
  process.requested_peak_bytes = requested_peak_of(c);
  std::vector<double> times;
  std::vector<double> clocks;
  for (const results::Replicate& repetition : c.replicates) {
    if (repetition.sm_clock) clocks.push_back(repetition.sm_clock->value);
    if (repetition.time) times.push_back(repetition.time->value);
  }
  if (!clocks.empty()) process.sm_clock = Hertz{stats::median(clocks)};
  if (!times.empty()) process.time = Seconds{stats::median(times)};
  if (times.size() > 1) {
    const auto count = static_cast<double>(times.size());
    constexpr double kTail = 0.025;
    process.relative_half_width =
        stats::t_upper_quantile(kTail, count - 1) * stats::standard_deviation(log_times(c)).value() / std::sqrt(count);
  }
  return process;
}

/// Repetitions inside one process vary less than processes do: together they are one replicate.
void join_repetitions(ComparisonSide& side, const std::map<std::string, std::string>& options) {
  const auto processes = options.find("processes");
  if (processes != options.end() && parse_integer(processes->second).value_or(1) > 1) return;
  std::size_t most = 1;
  for (results::MeasuredCase& c : side.cases) {
    if (c.replicates.size() < 2) continue;
    most = std::max(most, c.replicates.size());
    c.replicates = {one_process(c)};
  }
  if (most == 1) return;
  side.warnings.push_back(
      fmt::format("'{}': its {} repetitions share a process and count as one replicate; measure in several processes "
                  "(--tb_processes=5, or a file each)",
                  side.paths.front(), most));
}

ComparisonSide plain_side(const std::string& path, Entries entries) {
  if (entries.plain.first_error) std::rethrow_exception(entries.plain.first_error);
  if (entries.plain.cases.empty()) {
    throw std::runtime_error{
        "no measured entries, only aggregates or none at all (--benchmark_report_aggregates_only?)"};
  }
  ComparisonSide side = side_with(path, std::move(entries.plain.cases));
  side.warnings.push_back(fmt::format(
      "'{}': plain Google Benchmark JSON: device, clocks, memory, work and verification are unknown", path));
  join_repetitions(side, {});
  return side;
}

/// @param header  the file, with or without its records
ComparisonSide side_with(const std::string& path, const results::ResultFile& header,
                         std::vector<results::MeasuredCase> cases) {
  ComparisonSide side = side_with(path, std::move(cases));
  side.environments = {header.environment};
  side.run = results::run_flags(header);
  if (const auto plant = header.options.find("plant"); plant != header.options.end()) {
    side.planted = plant->second;
    side.warnings.push_back(fmt::format("'{}': a slowdown was planted: {}", path, side.planted));
  }
  if (header.interrupted) side.warnings.push_back(fmt::format("'{}': the run was interrupted", path));
  join_repetitions(side, header.options);
  return side;
}

/// @param rest  the file without its entries
ComparisonSide our_side(const std::string& path, const results::Json& rest, Entries entries) {
  const results::ResultFile header = results::result_file_from_json(rest);
  if (entries.ours.first_error) std::rethrow_exception(entries.ours.first_error);
  if (!entries.plain.cases.empty() || entries.plain.first_error) {
    throw std::runtime_error{"benchmarks: an entry that has no record is not an aggregate of others either"};
  }
  return side_with(path, header, std::move(entries.ours.cases));
}

/// A killed run leaves its last records in the journal; they count like the others.
/// @param path  their name in warnings
/// @param file  where they are
ComparisonSide side_with_journal(const std::string& path, const std::string& file) {
  ComparisonSide side = side_of(path, results::load_for_resume(file).value());
  side.warnings.push_back(fmt::format("'{}': the run was killed; its journal was read too", path));
  return side;
}

}  // namespace

ComparisonSide side_of(const std::string& path, const results::ResultFile& file) {
  std::vector<results::MeasuredCase> cases;
  for (const Record& record : file.records) cases.push_back(results::measured_case(record));
  return side_with(path, file, std::move(cases));
}

ComparisonSide read_side(const std::string& path, const std::filesystem::path& folder) {
  const std::string file = (folder / path).string();
  const std::string text = results::read_text(file);
  try {
    Entries entries;
    const results::Json rest =
        results::parse_entries(file, text, [&](const results::Json& entry) { entries.add(entry); });
    const results::Json& context = rest.at("context");
    if (!context.contains("tbench")) return plain_side(path, std::move(entries));
    check_schema(file, context);
    if (std::filesystem::exists(file + ".journal")) return side_with_journal(path, file);
    return our_side(path, rest, std::move(entries));
  } catch (const UsageError&) {
    throw;
  } catch (const NotComparable&) {
    throw;
  } catch (const std::exception& error) {
    results::refuse_file(file, error.what(), kChangedRemedy);
  }
}

std::vector<ComparisonSide> read_sides(std::span<const std::string> paths, const std::filesystem::path& folder) {
  // Each reader holds its file's text: no more of them at once than there are processors.
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
      return read_side(path, folder);
    }));
  }
  std::vector<ComparisonSide> sides;
  sides.reserve(paths.size());
  for (std::future<ComparisonSide>& reader : readers) sides.push_back(reader.get());
  return sides;
}

ComparisonSide merged(std::vector<ComparisonSide> sides) {
  ComparisonSide all;
  if (!sides.empty()) all.run = sides.front().run;
  std::unordered_map<std::string, std::size_t> index;
  for (ComparisonSide& side : sides) {
    std::ranges::move(side.paths, std::back_inserter(all.paths));
    std::ranges::move(side.environments, std::back_inserter(all.environments));
    std::ranges::move(side.warnings, std::back_inserter(all.warnings));
    if (all.planted.empty()) all.planted = std::move(side.planted);
    add_cases(all, index, std::move(side.cases));
  }
  return all;
}

}  // namespace tbench::compare
