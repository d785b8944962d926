// The sides of a comparison, and the check whether two sides may be compared. A side has a few numbers per case and
// replicate, read from this project's results files or from plain Google Benchmark JSON. It does not keep the samples.
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
  /// @param next  the command that measures comparable results; empty if none is known
  explicit NotComparable(const std::string& message, std::string next = {})
      : std::runtime_error{message}, next_{std::move(next)} {}
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  std::string next_;
};

/// The values in the `context` of plain Google Benchmark JSON, by key: `library_build_type`, `num_cpus`, `executable`.
using PlainContext = std::map<std::string, std::string>;

/// One side of a comparison: the content of one file, or of several.
struct ComparisonSide {
  std::vector<std::string> paths;
  std::vector<Environment> environments;  // one per results file of this project; plain Google Benchmark JSON has none
  std::vector<std::map<std::string, std::string>> options;  // the options in the same files' headers
  std::vector<PlainContext> contexts;                       // one per file of plain Google Benchmark JSON
  std::vector<results::MeasuredCase> cases;                 // in the order in which they first appear
  std::vector<std::string> warnings;
  std::vector<std::string> shared_gpus;  // the warnings about other processes on a GPU
  std::string planted;                   // CASE:SHARE of an injected slowdown (--tb_plant); empty if there is none
  results::RunFlags run;                 // flags of the first file's run
  std::optional<std::int64_t> other_processes_at_end{};  // maximum number on the GPU at the end of a file
  bool was_interrupted{};                                // whether the run of any file was interrupted or killed
  /// The number of processes in which each case was to be measured, by key. Empty for files without a plan.
  std::map<std::string, std::size_t> planned{};
  std::string way{};    // the settings of the first file's measurement: `min_time_s 0.5, samples 60`
  std::string suite{};  // the suite of the first file; empty if unknown
};

/// Returns the side of results that were read before.
/// @param path  the name of the results in warnings
/// @throws      std::runtime_error  for a median that is not above 0
[[nodiscard]] ComparisonSide side_of(const std::string& path, const results::ResultFile& file);

/// Reads a results file (with the journal next to it if the run was killed) or plain Google Benchmark JSON, row by row.
/// Plain names lose the suffixes that the library appends (`/iterations:N`, `/repeats:N`, `/manual_time`, ...), unless
/// benchmarks of the file differ in these alone. A plain row with an error counts as `crashed`. A row that was skipped
/// or has no valid time counts as `unsupported`.
/// @param path    the file; also its name in `paths` and in warnings
/// @param folder  the folder that `path` is relative to; empty for the working directory
/// @throws  UsageError     as read_result_file(); the message names the file, the problem and the remedy
/// @throws  NotComparable  for a file of another schema version
[[nodiscard]] ComparisonSide read_side(const std::string& path, const std::filesystem::path& folder = {});

/// Reads several files, at most one per processor at a time. The sides are in the order given. Names of plain Google
/// Benchmark JSON keep the suffixes that tell two benchmarks of any of these files apart.
/// @throws  as read_side(), for the first file that fails
[[nodiscard]] std::vector<ComparisonSide> read_sides(std::span<const std::string> paths,
                                                     const std::filesystem::path& folder = {});

/// Finds files that are copies of another file, in whole or in part. No second process measures exactly the same
/// samples, so equal samples are a copy. Copies of plain Google Benchmark JSON are not found, since it has no samples.
class CopyFinder {
 public:
  /// Adds the side of a file.
  /// @param side  the side of a single file; must outlive the finder
  /// @throws      UsageError  if an earlier file has the same samples of a case; the message names both files and the
  ///                          case
  void add(const ComparisonSide& side);

 private:
  /// A case's samples, and the file that has them.
  struct Samples {
    const results::MeasuredCase* measured{};
    const ComparisonSide* side{};
  };
  std::unordered_multimap<std::uint64_t, Samples> seen_;
};

/// Checks that no file is a copy of another one.
/// @param sides  all sides that are compared with each other, each from a single file
/// @throws       UsageError  as CopyFinder::add()
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

/// Names the facts in which the environments differ: "driver: 580.1 against 590.2". For plain Google Benchmark JSON, it
/// also names the facts in which the files of one side differ.
[[nodiscard]] std::vector<std::string> differences_of(const ComparisonSide& base, const ComparisonSide& next);

/// Returns the reasons why the sides must not be compared: several devices on a side, different clock policies,
/// different work under the same case name, or times measured in different ways (regime, L2 state, the options of
/// measuring_way.hpp). Empty if the sides may be compared.
[[nodiscard]] std::vector<std::string> objections(const ComparisonSide& base, const ComparisonSide& next,
                                                  std::span<const CasePair> pairs);

}  // namespace tbench::compare
