// Calls the rules of the sm90 kernels in the form that the tests need.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/attention/heuristics/sm90_bwd.hpp"
#include "kernels/attention/heuristics/sm90_fwd.hpp"
#include "kernels/attention/heuristics/sm90_tf32.hpp"

namespace tbench::kernels {

namespace sm90 {

inline std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return select_forward(problem, limits).plan;
}
inline std::optional<BwdPlan> choose_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return select_backward(problem, limits).plan;
}

/// Returns the bytes of the workspace; 0 if the sm80 kernels are selected.
inline std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto plan = choose_forward(problem, limits);
  return plan ? forward_workspace_bytes(*plan) : 0;
}
inline std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto plan = choose_backward(problem, limits);
  return plan ? backward_workspace(problem.shape, *plan).bytes() : 0;
}

}  // namespace sm90

namespace sm90_tf32 {

inline std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return select_forward(problem, limits).plan;
}
inline bool takes_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return select_backward(problem, limits).plan.has_value();
}
inline std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto plan = choose_forward(problem, limits);
  return plan ? forward_workspace(problem.shape, *plan).bytes() : 0;
}
inline std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return takes_backward(problem, limits) ? backward_workspace(problem.shape).bytes() : 0;
}

}  // namespace sm90_tf32

}  // namespace tbench::kernels
