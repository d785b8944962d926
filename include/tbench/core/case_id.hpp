// The identity of a case: its family and its parameters, in a fixed order. The name made from them is the join key of
// every comparison, and what every filter selects by.
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

  /// @throws  std::invalid_argument  if `name` is not `Family/key:value/...`
  [[nodiscard]] static CaseId parse(std::string_view name);

  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::string name() const;

  /// The value of `key`, or null if the case has no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Whether the case has all of these parameters.
  [[nodiscard]] bool has(std::span<const Parameter> parameters) const;
  /// @throws  std::out_of_range  naming the key and the case, if the case has no such key
  [[nodiscard]] const std::string& at(std::string_view key) const;
  /// The value of `key` as a whole number.
  /// @throws  std::out_of_range as `at`; std::invalid_argument if the value is not a whole number
  [[nodiscard]] std::int64_t int_at(std::string_view key) const;

  bool operator==(const CaseId&) const = default;

 private:
  std::string family_;
  std::vector<Parameter> parameters_;
};

/// A POSIX extended regular expression, as Google Benchmark's --benchmark_filter takes it: it selects the names in
/// which it is found anywhere; with a leading '-', those in which it is not. An empty expression selects every name.
class CaseFilter {
 public:
  /// @param flag  that gave the expression, for the message
  /// @throws  UsageError  if `expression` is no extended regular expression, or too long; later for a name over 1 KiB
  CaseFilter(const std::string& expression, const std::string& flag);
  [[nodiscard]] bool operator()(const std::string& name) const { return selects_(name); }

 private:
  std::function<bool(const std::string& name)> selects_;  // keeps <regex> out of the many files that include this one
};

}  // namespace tbench
