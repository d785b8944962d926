// Which cases of a night look regressed: what is measured again. Private to the report layer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate_reference.hpp"

namespace tbench::report {

/// A case of tonight on its way to a verdict. Points into tonight's run and the past.
struct JudgedCase {
  NightCase result;
  const ComparedCase* measured{};
  const CaseNights* nights{};
  std::vector<const CaseNight*> reference;  // into `nights`
  std::optional<double> value;              // as CaseNight::value
  bool is_candidate{};                      // changed from one night to another
  bool creeps{};                            // changed slowly
};

/// Fills in everything that needs no confirmation: verdicts of cases that are no candidates, what the candidates were
/// found by and since when.
void screen(std::vector<JudgedCase>& cases, const std::map<std::string, double>& known_spread,
            std::optional<double> tau);

}  // namespace tbench::report
