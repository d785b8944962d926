// Records and files that the tests of this layer share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::support {

/// `Model/size:small/ctx:512/batch:4/pass:PASS/precision:bf16/impl:IMPL`
[[nodiscard]] CaseId model_id(const std::string& pass, const std::string& impl, const std::string& size = "small",
                              std::int64_t context = 512);

/// Replaces the samples, and the statistics by the statistics of the new samples; flagged samples that are gone are so
/// no longer.
void set_samples(Timing& timing, std::vector<double> samples_s);
/// Does the same as set_samples, with every sample times `factor`.
void scale_samples(Timing& timing, double factor);

/// A record with every field set.
[[nodiscard]] Record full_record();
/// A record with three samples around `median`, and nothing optional but their statistics.
[[nodiscard]] Record timed_record(CaseId id, Seconds median);
/// A record of a kernel's bursts, cold, of 13 launches per sample.
[[nodiscard]] Record burst_record(CaseId id, Seconds median);
/// A record without a time.
[[nodiscard]] Record failed_record(CaseId id, Status status, std::string reason);
/// The i-th of a series of records that all differ.
[[nodiscard]] Record numbered_record(std::int64_t i);

[[nodiscard]] Environment gpu_environment();
[[nodiscard]] Environment cpu_environment();

/// `a.json`, with these records of a GPU and nothing else.
[[nodiscard]] results::NamedResults gpu_results(std::vector<Record> records);

/// One of each kind of entry: full, oom, two repetitions with aggregates of which one is unstable, two other families,
/// one of them of bursts.
[[nodiscard]] results::ResultFile golden_file();

/// A fresh folder, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Names of everything in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

void write_text(const std::string& path, const std::string& text);

}  // namespace tbench::support
