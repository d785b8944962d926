// Rules that select a kernel's config. A table is ordered: the first rule that applies decides, and the last one always
// applies. The measured times on which the rules rest are in the CSV files of this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/attention/common/launch.hpp"
#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels {

/// A problem on a device, with the quantities that the rules compare.
struct Occupancy {
  const AttentionProblem& problem;
  const DeviceLimits& limits;

  [[nodiscard]] const AttentionShape& shape() const { return problem.shape; }
  [[nodiscard]] bool causal() const { return problem.shape.causal; }
  [[nodiscard]] std::int64_t head_dim() const { return problem.shape.head_dim; }
  [[nodiscard]] std::int64_t seq_q() const { return problem.shape.seq_q; }
  [[nodiscard]] std::int64_t seq_kv() const { return problem.shape.seq_kv; }
  [[nodiscard]] std::int64_t min_seq() const { return std::min(seq_q(), seq_kv()); }
  [[nodiscard]] std::int64_t max_seq() const { return std::max(seq_q(), seq_kv()); }
  [[nodiscard]] std::int64_t num_sms() const { return limits.multiprocessors; }
  /// Number of heads of all sequences.
  [[nodiscard]] std::int64_t heads() const { return problem.shape.batch * problem.shape.heads; }
  /// Number of tiles of `rows` queries, or keys, in all heads.
  [[nodiscard]] std::int64_t q_tiles(std::int64_t rows) const { return block_count(seq_q(), rows) * heads(); }
  [[nodiscard]] std::int64_t kv_tiles(std::int64_t rows) const { return block_count(seq_kv(), rows) * heads(); }
  [[nodiscard]] bool fits(std::size_t shared_bytes) const { return shared_bytes <= limits.shared_bytes_per_block; }
};

template <class Config>
struct Rule {
  std::string_view condition;  // describes `applies` in words
  bool (*applies)(const Occupancy&);
  Config config;
};

/// The predicate of a table's last rule.
constexpr bool always(const Occupancy& /*occupancy*/) { return true; }
inline constexpr std::string_view kOtherwise = "otherwise";

/// Identifies the rule that decided. The strings belong to the rule's table, which is static.
struct RuleName {
  std::string_view table;
  int number{};  // position in the table, counted from 1
  std::string_view condition;
};

/// Formats a rule: "sm90_fwd[head_dim 64] #3: causal, seq_kv < 4,096".
[[nodiscard]] std::string to_string(const RuleName& rule);

template <class Config>
struct Decision {
  Config config;
  RuleName rule;
};

template <class Config>
class RuleTable {
 public:
  /// Compiles only if the last rule always applies.
  consteval RuleTable(std::string_view name, std::span<const Rule<Config>> rules) : name_{name}, rules_{rules} {
    if (rules.empty() || rules.back().condition != kOtherwise) throw std::logic_error{"a table needs a last rule"};
  }

  [[nodiscard]] Decision<Config> decide(const Occupancy& occupancy) const {
    std::size_t i = 0;
    while (!rules_[i].applies(occupancy)) ++i;
    return {rules_[i].config, {.table = name_, .number = static_cast<int>(i) + 1, .condition = rules_[i].condition}};
  }

 private:
  std::string_view name_;
  std::span<const Rule<Config>> rules_;
};

/// The plan that a path selected for a problem, if any.
template <class Plan>
struct Selection {
  std::optional<Plan> plan;      // absent if the path has no kernel for the problem, or another path is faster
  std::optional<RuleName> rule;  // rule that selected the config or another path; absent if the path has no kernel
};

}  // namespace tbench::kernels
