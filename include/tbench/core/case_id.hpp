// What identifies a case: its family and its parameters, in a fixed order. The name made from them is the join key of
// every comparison.
#pragma once

#include <cstdint>
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

}  // namespace tbench
