// Shares: which Ceiling cases the selected ones are held against, and what those came to in this run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "family.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// Whether a case is of the family that others are held against.
[[nodiscard]] bool is_ceiling(const CaseId& id);

/// The Ceiling cases that `cases` are held against, in the order of their first need, each once. None where no family
/// is the Ceiling family.
/// @throws  std::logic_error  if a family names a ceiling that there is not
[[nodiscard]] std::vector<CaseId> ceilings_of(const std::vector<Family>& families, std::span<const CaseId> cases);

/// What the ceilings came to, process by process.
class MeasuredCeilings {
 public:
  /// @param families  outlives this
  explicit MeasuredCeilings(const std::vector<Family>& families) : families_{families} {}

  /// Notes the rate of a Ceiling case that is `ok`: bytes a second, or FLOP/s where no bytes are counted. Of several
  /// repetitions the highest. Any other record is passed over.
  /// @param process  that measured it, from 0
  void learn(const Record& record, std::int64_t process);

  /// Fills in Record::ceiling_per_second from the same process: of the record's own regime, or where the ceiling is not
  /// measured in that, as memory is in bursts alone, of the other. Nothing is filled in for a record without a time,
  /// without a ceiling, or of a warm L2 cache where the ceiling counts the bytes of a cold one.
  void hold(Record& record, std::int64_t process) const;

 private:
  struct Rate {
    double per_second{};
    std::optional<L2State> l2;
    bool is_of_bytes{};
  };
  const std::vector<Family>& families_;
  std::map<std::pair<std::int64_t, std::string>, Rate> rates_;  // by process and case name
};

}  // namespace tbench::bench
