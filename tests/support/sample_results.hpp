// Makes records and files for the tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::support {

/// Returns `Model/size:small/ctx:512/batch:4/pass:PASS/precision:bf16/impl:IMPL`, with PASS and IMPL replaced.
[[nodiscard]] CaseId model_id(const std::string& pass, const std::string& impl, const std::string& size = "small",
                              std::int64_t context = 512);

/// Replaces the samples, computes their statistics, and removes flags of samples that no longer exist.
void set_samples(Timing& timing, std::vector<double> samples_s);
/// Does the same as set_samples(), with every sample multiplied by `factor`.
void scale_samples(Timing& timing, double factor);

/// Returns a record with every field set.
[[nodiscard]] Record full_record();
/// Returns a record with three samples around `median`. Their statistics are its only optional fields.
[[nodiscard]] Record timed_record(CaseId id, Seconds median);
/// Returns a record of a kernel's bursts with a cold cache and 13 launches per sample.
[[nodiscard]] Record burst_record(CaseId id, Seconds median);
/// Returns a record without a time.
[[nodiscard]] Record failed_record(CaseId id, Status status, std::string reason);
/// Returns record i of a series of records that all differ.
[[nodiscard]] Record numbered_record(std::int64_t i);

[[nodiscard]] Environment gpu_environment();
[[nodiscard]] Environment cpu_environment();

/// Returns `a.json`, which has only these records of a GPU.
[[nodiscard]] results::NamedResults gpu_results(std::vector<Record> records);

/// Returns a file with one entry of each kind: a record with every field set, an out-of-memory record, two repetitions
/// (the second one unstable) with their aggregates, and two records of other families, one of which is measured in
/// bursts.
[[nodiscard]] results::ResultFile golden_file();

/// A new folder, which is removed with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Returns the sorted names of its contents.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

void write_text(const std::string& path, const std::string& text);

}  // namespace tbench::support
