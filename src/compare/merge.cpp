#include "tbench/compare/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compare/machine_check.hpp"
#include "compare/shard_parts.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;
using results::ResultFile;

/// A record and its position in an undivided run: by process, then ceilings before other cases, then by `place`.
struct Placed {
  std::int64_t process{};
  bool is_other{};
  std::uint64_t place{};
  Record record;
};

/// Sorts the records of parts, which are added one after the other, into the order of an undivided run.
class Order {
 public:
  Order(const ResultFile& any, bool has_shards)
      : processes_{processes_of(any)},
        seed_{number_in(any, "order_seed").value_or(number_in(any, "seed").value_or(1))},
        has_shards_{has_shards} {}

  void add(Part part) {
    // The numbers of the part's cases without ceilings, in the order in which they ran.
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
        placed.place = static_cast<std::uint64_t>(part.place(numbers.at(name)));
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

  /// Returns the number of ceiling records that were left out because an earlier file had them.
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
  std::map<std::pair<std::string, std::int64_t>, std::string> labels_;  // label of the file, by case and repetition
  std::vector<Placed> placed_;
};

std::int64_t started(const ResultFile& file) { return parse_timestamp(file.environment.date).value_or(0); }

/// Returns the merged file without its records. The records of the parts get the indexes that their machines have in
/// it.
ResultFile header_of(std::span<Part> parts, std::map<std::string, std::string> options) {
  const ResultFile& first = parts.front().results.file;
  ResultFile merged{.environment = first.environment,
                    .host = first.host,
                    .options = std::move(options),
                    .interrupted = false,
                    .records = {}};
  std::set<std::string> planned;
  for (Part& part : parts) {
    ResultFile& file = part.results.file;
    std::ranges::copy_if(file.plan, std::back_inserter(merged.plan),
                         [&](const std::string& name) { return planned.insert(name).second; });
    const std::vector<std::int64_t> places = add_machines(merged.environment, file.environment);
    for (Record& record : file.records) record.machine = places.at(static_cast<std::size_t>(record.machine));
    if (started(file) < started(merged)) merged.environment.date = file.environment.date;
    merged.other_processes_at_end = std::max(merged.other_processes_at_end, file.other_processes_at_end);
    if (!file.environment.gpu) continue;  // no other part has a GPU either: see require_same_machine()
    merged.environment.gpu->other_processes =
        std::max(merged.environment.gpu->other_processes, file.environment.gpu->other_processes);
  }
  return merged;
}

}  // namespace

Merged merge(std::vector<NamedResults> files) {
  const bool has_shards = are_shards(files);
  require_same_machine(files);
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

}  // namespace tbench::compare
