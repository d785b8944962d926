#include "kernels/attention/heuristics/rule.hpp"

#include <fmt/format.h>

namespace tbench::kernels {

std::string to_string(const RuleName& rule) {
  return fmt::format("{} #{}: {}", rule.table, rule.number, rule.condition);
}

}  // namespace tbench::kernels
