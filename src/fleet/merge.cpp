#include "tbench/fleet/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"

namespace tbench::fleet {
namespace {

using results::NamedResults;
using results::ResultFile;

/// A file of shards, and what it should have.
struct Part {
  NamedResults results;
  Shard shard;
  std::int64_t shared{};  // cases that all shards have one each of
};

std::optional<std::int64_t> number_in(const ResultFile& file, const std::string& option) {
  const auto found = file.options.find(option);
  return found == file.options.end() ? std::nullopt : parse_integer(found->second);
}

std::int64_t processes_of(const ResultFile& file) { return number_in(file, "processes").value_or(1); }

/// Nothing for a file that is no shard.
std::optional<Shard> shard_of(const ResultFile& file) {
  const auto found = file.options.find("shard");
  return found == file.options.end() ? std::nullopt : parse_shard(found->second);
}

/// How many runs of cases other than ceilings the file has, one a process; repetitions inside one count once.
std::int64_t runs_of_cases(const ResultFile& file) {
  const bool has_processes = processes_of(file) > 1;
  std::set<std::pair<std::string, std::int64_t>> runs;
  for (const Record& record : file.records) {
    if (!is_ceiling(record.id)) runs.emplace(record.id.name(), has_processes ? record.repetition_index : 0);
  }
  return static_cast<std::int64_t>(runs.size());
}

/// The files by shard. Those that are no shards are one part each of a selection without shards, in their order.
std::vector<Part> parts_of(std::vector<NamedResults> files) {
  std::vector<Part> parts;
  for (NamedResults& one : files) {
    const std::optional<Shard> shard = shard_of(one.file);
    const std::int64_t shared = number_in(one.file, "shared_cases").value_or(0);
    parts.push_back({.results = std::move(one), .shard = shard.value_or(Shard{}), .shared = shared});
  }
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.shard.index; });
  return parts;
}

bool are_shards(std::span<const NamedResults> files) {
  std::vector<std::string> shards;
  std::vector<std::string> others;
  for (const NamedResults& one : files) (shard_of(one.file) ? shards : others).push_back(one.label);
  if (shards.empty() || others.empty()) return !shards.empty();
  throw UsageError{fmt::format("{} a shard (--tb_shard), {} none; merge the shards of one run, or files that are none",
                               listed(shards) + (shards.size() == 1 ? " is" : " are"),
                               listed(others) + (others.size() == 1 ? " is" : " are"))};
}

/// @throws  UsageError  for shards of different numbers, one that is there twice, or has cases that are not its own
void check_shards(std::span<const Part> parts) {
  const Part& first = parts.front();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [results, shard, shared] = parts[i];
    if (shard.count != first.shard.count) {
      throw UsageError{fmt::format("'{}' is shard {} and '{}' shard {}: not of one division; give the shards of one",
                                   first.results.label, to_string(first.shard), results.label, to_string(shard))};
    }
    if (i > 0 && shard == parts[i - 1].shard) {
      throw UsageError{
          fmt::format("'{}' and '{}' are both shard {}; give each once (--tb_resume completes one that was "
                      "cut short)",
                      parts[i - 1].results.label, results.label, to_string(shard))};
    }
    const std::int64_t most = size_of(shard, shared) * processes_of(results.file);
    if (runs_of_cases(results.file) <= most) continue;
    throw UsageError{fmt::format("'{}' has {} cases, though shard {} of {} has {}; measure it again", results.label,
                                 runs_of_cases(results.file), to_string(shard), shared, most)};
  }
}

std::vector<std::string> missing_of(std::span<const Part> parts) {
  const auto& [results, any, shared] = parts.front();
  std::map<std::int64_t, const Part*> present;
  for (const Part& part : parts) present.emplace(part.shard.index, &part);
  std::vector<std::string> missing;
  for (std::int64_t index = 1; index <= std::min(any.count, std::max(shared, std::int64_t{1})); ++index) {
    const Shard shard{.index = index, .count = any.count};
    const std::int64_t size = size_of(shard, shared) * processes_of(results.file);
    const auto found = present.find(index);
    if (found == present.end()) {
      missing.push_back(fmt::format("shard {}, {} cases", to_string(shard), size_of(shard, shared)));
      continue;
    }
    const std::int64_t count = runs_of_cases(found->second->results.file);
    const std::string& label = found->second->results.label;
    if (count < size) {
      missing.push_back(fmt::format("{} of {} of shard {} ('{}')", size - count, size, to_string(shard), label));
    } else if (size == 0 && found->second->results.file.interrupted) {  // ceilings come first: else they are there
      missing.push_back(fmt::format("ceilings of shard {} ('{}')", to_string(shard), label));
    }
  }
  return missing;
}

/// A record and where an undivided run has it: process, ceilings first, place.
struct Placed {
  std::int64_t process{};
  bool is_other{};
  std::uint64_t place{};
  Record record;
};

/// Puts the records of parts, added one after the other, in the order of an undivided run.
class Order {
 public:
  Order(const ResultFile& any, bool has_shards)
      : processes_{processes_of(any)},
        seed_{number_in(any, "order_seed").value_or(number_in(any, "seed").value_or(1))},
        has_shards_{has_shards} {}

  void add(Part part) {
    // Of the part's cases besides ceilings, in the order in which they ran.
    std::map<std::string, std::int64_t> numbers;
    for (Record& record : part.results.file.records) {
      const std::string name = record.id.name();
      if (!is_new(name, record, part.results.label)) continue;
      const auto number = static_cast<std::int64_t>(numbers.size());
      const bool is_other = !is_ceiling(record.id);
      if (is_other) numbers.emplace(name, number);
      const std::int64_t process = processes_ > 1 ? record.repetition_index : 0;
      Placed placed{.process = process, .is_other = is_other, .place = next_++, .record = std::move(record)};
      if (placed.is_other && processes_ > 1) {
        placed.place = random_rank(name, process, static_cast<std::uint64_t>(seed_));
      } else if (placed.is_other && has_shards_) {
        placed.place = static_cast<std::uint64_t>(place_of(part.shard, numbers.at(name)));
      }
      placed_.push_back(std::move(placed));
    }
  }

  [[nodiscard]] std::vector<Record> take() && {
    std::ranges::stable_sort(placed_, {}, [](const Placed& p) { return std::tuple{p.process, p.is_other, p.place}; });
    std::vector<Record> records;
    records.reserve(placed_.size());
    for (Placed& placed : placed_) records.push_back(std::move(placed.record));
    return records;
  }

  /// How many runs of ceilings were left out, because an earlier file had them.
  [[nodiscard]] std::size_t repeated_ceilings() const { return repeated_ceilings_; }

 private:
  bool is_new(const std::string& name, const Record& record, const std::string& label) {
    const auto [other, is_new] = labels_.emplace(std::pair{name, record.repetition_index}, label);
    if (is_new) return true;
    if (is_ceiling(record.id)) {
      ++repeated_ceilings_;
      return false;
    }
    throw UsageError{
        fmt::format("{} is in '{}' and in '{}': which one counts? Leave one out; runs of the same cases are "
                    "replicates, and 'tbench diff' and 'tbench gate' take their files as they are",
                    name, other->second, label)};
  }

  std::int64_t processes_;
  std::int64_t seed_;
  bool has_shards_;
  std::uint64_t next_{};
  std::size_t repeated_ceilings_{};
  std::map<std::pair<std::string, std::int64_t>, std::string> labels_;  // of the file, by case and repetition
  std::vector<Placed> placed_;
};

std::int64_t started(const ResultFile& file) { return parse_timestamp(file.environment.date).value_or(0); }

/// All but the records.
ResultFile header_of(std::span<const Part> parts, std::map<std::string, std::string> options) {
  const ResultFile& first = parts.front().results.file;
  ResultFile merged{.environment = first.environment,
                    .host = first.host,
                    .options = std::move(options),
                    .interrupted = false,
                    .records = {}};
  std::set<std::string> gpus;
  for (const Part& part : parts) {
    const ResultFile& file = part.results.file;
    if (started(file) < started(merged)) merged.environment.date = file.environment.date;
    if (!file.environment.gpu || !merged.environment.gpu) continue;
    gpus.insert(file.environment.gpu->uuid);
    merged.environment.gpu->other_processes =
        std::max(merged.environment.gpu->other_processes, file.environment.gpu->other_processes);
  }
  if (gpus.size() > 1) {
    merged.environment.gpu->uuid.clear();
    gpus.erase("");  // of anonymous files
    merged.options["merged_gpus"] = join(std::vector(gpus.begin(), gpus.end()), ", ");
  }
  return merged;
}

}  // namespace

Merged merge(std::vector<NamedResults> files) {
  const bool has_shards = are_shards(files);
  check_same_kind(files);
  std::map<std::string, std::string> options = joined_options(files);
  std::vector<Part> parts = parts_of(std::move(files));
  Merged merged;
  if (has_shards) {
    check_shards(parts);
    merged.missing = missing_of(parts);
  } else {
    for (const Part& part : parts) {
      if (part.results.file.interrupted) merged.missing.push_back(fmt::format("the rest of '{}'", part.results.label));
    }
  }
  merged.file = header_of(parts, std::move(options));
  merged.file.interrupted = !merged.missing.empty();
  Order order{merged.file, has_shards};
  const std::string first = parts.front().results.label;
  for (Part& part : parts) order.add(std::move(part));
  if (order.repeated_ceilings() > 0) {
    merged.notes.push_back(
        fmt::format("{} ceilings that several files have are taken from the first, '{}'; every case keeps the rates of "
                    "its own machine",
                    order.repeated_ceilings(), first));
  }
  merged.file.records = std::move(order).take();
  return merged;
}

}  // namespace tbench::fleet
