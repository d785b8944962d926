// What the nights before say of each case. Private to the report layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tbench/report/gate.hpp"

namespace tbench::report {

/// One case in one past night. Points into the past.
struct CaseNight {
  const PastRun* night;
  const ComparedCase* measured;
  Status status{};              // the worst of the processes
  std::optional<double> value;  // ln of the median time in seconds, where every process is `ok`
  std::optional<std::int64_t> peak_bytes;
  /// Counts as what the case is normally: of a valid night, `ok`, not confirmed as a regression.
  bool is_reference{};
};

/// A case's nights of one epoch, oldest first, from its baseline on.
using CaseNights = std::vector<CaseNight>;

/// By match_key.
using NightsByCase = std::unordered_map<std::string, CaseNights>;

[[nodiscard]] NightsByCase nights_by_case(const std::vector<PastRun>& past, const std::string& epoch);
/// Of a case that no night measured: none.
[[nodiscard]] const CaseNights& nights_of(const NightsByCase& nights, const std::string& key);

/// As the public one.
[[nodiscard]] std::map<std::string, double> known_spreads(const NightsByCase& nights);

/// The reference nights, oldest first.
[[nodiscard]] std::vector<const CaseNight*> references_of(const CaseNights& nights);
/// The last `count` of them, or all.
[[nodiscard]] std::vector<const CaseNight*> newest(const std::vector<const CaseNight*>& nights, std::size_t count);
[[nodiscard]] std::vector<double> values_of(const std::vector<const CaseNight*>& nights);

/// The worst status of a case's processes, and what its process says about it.
[[nodiscard]] const Replicate& worst_of(const ComparedCase& c);
/// As CaseNight::value.
[[nodiscard]] std::optional<double> value_of(const ComparedCase& c);
[[nodiscard]] std::optional<std::int64_t> peak_of(const ComparedCase& c);

/// Ceilings tell whether the machine is as it was; they are not gated themselves.
[[nodiscard]] bool is_ceiling(const CaseId& id);

}  // namespace tbench::report
