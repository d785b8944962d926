#include "bench/session/output.hpp"

#include <fmt/format.h>

#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {
namespace {

using RecordedOptions = std::map<std::string, std::string>;

std::string value_in(const RecordedOptions& options, const char* name, const char* unset) {
  const auto found = options.find(name);
  return found == options.end() ? std::string{unset} : found->second;
}

void check_measured_alike(const std::string& path, const RecordedOptions& earlier, const RecordedOptions& now) {
  const std::pair<const char*, const char*> kSame[]{
      {"processes", "1"}, {"plant", "nothing"},          {"verify", "twice"},
      {"trace", "off"},   {"memory_limit", "all of it"}, {"shard", "1/1"}};
  for (const auto& [name, unset] : kSame) {
    const std::string before = value_in(earlier, name, unset);
    if (before == value_in(now, name, unset)) continue;
    throw UsageError{
        fmt::format("--tb_resume: '{}' was started with --tb_{}={}; resume it with the same, or give another "
                    "--benchmark_out",
                    path, name, before)};
  }
  if (const std::string before = value_in(earlier, "ranks", "1"); before != value_in(now, "ranks", "1")) {
    throw UsageError{
        fmt::format("--tb_resume: '{}' was started with {} rank(s); resume it with as many, or give another "
                    "--benchmark_out",
                    path, before)};
  }
}

void check_same_shard(const std::string& path, const RecordedOptions& earlier, const RecordedOptions& now) {
  for (const char* name : {"suite", "study", "filter", "shared_cases"}) {
    const std::string before = value_in(earlier, name, "none");
    const std::string after = value_in(now, name, "none");
    if (before == after) continue;
    throw UsageError{
        fmt::format("--tb_resume: '{}' is a shard of other cases ({} {}, and now {}); resume it with the same "
                    "selection, or give another --benchmark_out",
                    path, name, before, after)};
  }
  const std::string before = value_in(earlier, "durations", "none");
  const std::string after = value_in(now, "durations", "none");
  if (earlier.contains("shard_places") == now.contains("shard_places") && before == after) return;
  throw UsageError{fmt::format(
      "--tb_resume: '{}' is a shard made with the durations {}, and now {} would decide which cases it has. Give the "
      "same table with --tb_durations (none: --tb_durations=off), or another --benchmark_out.",
      path, before, after)};
}

}  // namespace

std::optional<Output> take_output(const Options& options) {
  if (options.out.empty()) return std::nullopt;
  results::ResultWriter::check_writable(options.out);
  Output output{.lock = results::OutputLock{options.out}, .earlier = {}};
  if (options.resume) {
    output.earlier = results::load_for_resume(options.out);
  } else if (results::has_journal(options.out)) {
    throw UsageError{
        fmt::format("--benchmark_out={}: {} holds an unfinished run: add --tb_resume to resume it, or "
                    "delete the journal to start over",
                    options.out, results::journal_path(options.out))};
  }
  return output;
}

void check_same_options(const std::string& path, const results::ResultFile& earlier, const RecordedOptions& now) {
  check_measured_alike(path, earlier.options, now);
  if (now.contains("shard")) check_same_shard(path, earlier.options, now);
}

}  // namespace tbench::bench
