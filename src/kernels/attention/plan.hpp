// The kernels that a plan selected, by path and pass.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm80/bwd/config.hpp"
#include "kernels/attention/sm80/fwd/config.hpp"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

using FwdPlan = std::variant<sm80::FwdPlan, sm90::FwdPlan, sm90_tf32::FwdPlan>;
using BwdPlan = std::variant<sm80::BwdPlan, sm90::BwdPlan, sm90_tf32::BwdPlan>;

struct AttentionPlan::State {
  AttentionProblem problem;
  DeviceLimits limits;
  std::variant<FwdPlan, BwdPlan> pass;
  std::vector<RuleName> rules;  // the last rule selected the config
  std::size_t workspace_bytes{};
};

}  // namespace tbench::kernels
