// The mutation score of a verification: the share of the injected faults that it finds.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::model {

class MutationScore {
 public:
  /// Adds one trial of a fault; the trials of one fault follow each other. A fault is found only if all its trials find
  /// it.
  /// @param message  message of the verification that failed; empty if none did
  void add(const std::string& fault, std::string_view variant, const std::string& message) {
    if (faults_.empty() || faults_.back() != fault) faults_.push_back(fault);
    if (message.empty() && (survivors_.empty() || survivors_.back() != fault)) survivors_.push_back(fault);
    std::cout << fmt::format("{} in {}: {}\n", fault, variant, message.empty() ? "NOT FOUND" : message);
  }

  void print() const {
    std::cout << fmt::format("mutation score: {} of {}; survivors: {}\n", faults_.size() - survivors_.size(),
                             faults_.size(), fmt::join(survivors_, ", "));
  }

  [[nodiscard]] std::size_t faults() const { return faults_.size(); }
  [[nodiscard]] const std::vector<std::string>& survivors() const { return survivors_; }

 private:
  std::vector<std::string> faults_, survivors_;
};

}  // namespace tbench::model
