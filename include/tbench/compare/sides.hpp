// The sides of a comparison: what they need of results files (a few numbers per case and replicate, from our files and
// from plain Google Benchmark JSON; samples are not kept), and whether two of them may be compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {

/// Results that must not be compared with each other. The message gives the reason and the remedy.
class NotComparable : public std::runtime_error {
 public:
  /// @param next  the command that measures what can be compared; empty: none is known
  explicit NotComparable(const std::string& message, std::string next = {})
      : std::runtime_error{message}, next_{std::move(next)} {}
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  std::string next_;
};

/// The `context` of plain Google Benchmark JSON by its keys: `library_build_type`, `num_cpus`, `executable`.
using PlainContext = std::map<std::string, std::string>;

/// One side of a comparison: what one file holds, or several.
struct ComparisonSide {
  std::vector<std::string> paths;
  std::vector<Environment> environments;  // of the files that have one; plain Google Benchmark JSON does not
  std::vector<std::map<std::string, std::string>> options;  // of the same files' commands
  std::vector<PlainContext> contexts;                       // of the files that are plain Google Benchmark JSON
  std::vector<results::MeasuredCase> cases;                 // in the order in which they first appear
  std::vector<std::string> warnings;
  std::vector<std::string> shared_gpus;                  // of the warnings, those of other processes on a GPU
  std::string planted;                                   // CASE:SHARE of an injected slowdown (--tb_plant); empty: none
  results::RunFlags run;                                 // of the first file
  std::optional<std::int64_t> other_processes_at_end{};  // maximum number on the GPU at the end of a file
  bool was_interrupted{};                                // one of the files says so, or its run was killed
  /// The number of processes in which each case was to be measured, by key. Empty for files without a plan.
  std::map<std::string, std::size_t> planned{};
  std::string way{};    // the settings of the measurement: `min_time_s 0.5, samples 60`; of the first file
  std::string suite{};  // likewise; empty: not told
};

/// Results that were read before.
/// @param path  their name in warnings
/// @throws      as results::measured_case
[[nodiscard]] ComparisonSide side_of(const std::string& path, const results::ResultFile& file);

/// Reads a results file (with the journal of a killed run beside it) or plain Google Benchmark JSON, row by row. A name
/// of the latter loses what the library appends to it (`/iterations:N`, `/repeats:N`, `/manual_time`, ...), unless
/// benchmarks of the file differ in nothing else; a row with an error counts as `crashed`, a skipped one and one whose
/// time is none as `unsupported`.
/// @param path    also its name in `paths` and in warnings
/// @param folder  what `path` is relative to; empty: the working directory
/// @throws  UsageError     naming the file, the problem and the remedy, as read_result_file
/// @throws  NotComparable  for a file of another schema version
[[nodiscard]] ComparisonSide read_side(const std::string& path, const std::filesystem::path& folder = {});

/// Reads several files, at most one a processor at a time. The sides are in the order given. Names of plain Google
/// Benchmark JSON keep what tells benchmarks of any of these files apart.
/// @throws  as read_side, for the first file that fails
[[nodiscard]] std::vector<ComparisonSide> read_sides(std::span<const std::string> paths,
                                                     const std::filesystem::path& folder = {});

/// Finds files of which one is a copy of the other, in whole or in part: a copy repeats without a spread, as no second
/// process does. Plain Google Benchmark JSON has no samples to tell.
class CopyFinder {
 public:
  /// @param side  of one file; outlives the finder
  /// @throws      UsageError  naming both files and the first case of which this one and an earlier one have the same
  ///                          samples
  void add(const ComparisonSide& side);

 private:
  /// A case's samples, and the file that has them.
  struct Samples {
    const results::MeasuredCase* measured{};
    const ComparisonSide* side{};
  };
  std::unordered_multimap<std::uint64_t, Samples> seen_;
};

/// @param sides  of one file each, all that are compared with each other
/// @throws       as CopyFinder
void refuse_copies(std::span<const ComparisonSide> sides);

/// Merges several sides into one.
[[nodiscard]] ComparisonSide merged(std::vector<ComparisonSide> sides);

/// A case that both sides have: base, new.
using CasePair = std::pair<const results::MeasuredCase*, const results::MeasuredCase*>;

/// Returns the names of a side's GPUs, or of its CPUs if it used no GPU; empty if no file names them.
[[nodiscard]] std::string device_names(const ComparisonSide& side);

/// Returns the UUIDs of a side's GPUs that its files name, in order.
[[nodiscard]] std::vector<std::string> gpu_uuids(const ComparisonSide& side);

/// Returns whether the sides are known to come from different devices. A MIG slice and its whole GPU are different
/// devices.
[[nodiscard]] bool devices_differ(const ComparisonSide& base, const ComparisonSide& next);

/// Names the facts in which the environments differ: "driver: 580.1 against 590.2". For contexts of plain Google
/// Benchmark JSON also those in which the files of a side differ.
[[nodiscard]] std::vector<std::string> differences_of(const ComparisonSide& base, const ComparisonSide& next);

/// Returns the reasons why the sides must not be compared: several devices on a side, different clock policies,
/// different work under the same case name, times taken in different ways (regime, L2, options as in measuring_way.hpp,
/// the memory limit among them). Empty if they may.
[[nodiscard]] std::vector<std::string> objections(const ComparisonSide& base, const ComparisonSide& next,
                                                  std::span<const CasePair> pairs);

}  // namespace tbench::compare
