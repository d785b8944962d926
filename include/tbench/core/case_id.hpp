// The identity of a case: its family and its parameters, in a fixed order. Comparisons join cases by the name made from
// them, and filters select by it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbench {

/// `Family/key:value/key:value`, every value as the user spells it.
class CaseId {
 public:
  using Parameter = std::pair<std::string, std::string>;

  CaseId() = default;
  CaseId(std::string family, std::vector<Parameter> parameters)
      : family_{std::move(family)}, parameters_{std::move(parameters)} {}

  /// Parses the name of a case.
  /// @throws  std::invalid_argument  if `name` is not `Family/key:value/...`
  [[nodiscard]] static CaseId parse(std::string_view name);

  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::string name() const;

  /// Returns the value of `key`, or null if the case has no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Returns whether the case has all of these parameters.
  [[nodiscard]] bool has(std::span<const Parameter> parameters) const;
  /// Returns the value of `key`.
  /// @throws  std::out_of_range  if the case has no such key; the message names the key and the case
  [[nodiscard]] const std::string& at(std::string_view key) const;
  /// Returns the value of `key` as a whole number.
  /// @throws  std::out_of_range if the case has no such key; std::invalid_argument if the value is not a whole number
  [[nodiscard]] std::int64_t int_at(std::string_view key) const;

  bool operator==(const CaseId&) const = default;

 private:
  std::string family_;
  std::vector<Parameter> parameters_;
};

/// A filter by POSIX extended regular expression, with the rules of Google Benchmark's --benchmark_filter: it selects
/// the names that contain a match; with a leading '-', the names that contain none. An empty expression selects every
/// name.
class CaseFilter {
 public:
  /// Compiles the expression. The filter itself throws UsageError for a name over 1 KiB.
  /// @param flag  the flag that the expression came from, for the message
  /// @throws  UsageError  if `expression` is not an extended regular expression, or is too long
  CaseFilter(const std::string& expression, const std::string& flag);
  [[nodiscard]] bool operator()(const std::string& name) const { return selects_(name); }

 private:
  std::function<bool(const std::string& name)> selects_;  // keeps <regex> out of the many files that include this one
};

}  // namespace tbench
