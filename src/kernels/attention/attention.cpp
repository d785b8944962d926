// The public functions: they check the problem and the arguments, and launch the kernels that the plan selected.
#include "tbench/kernels/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/plan.hpp"
#include "kernels/attention/sm80/gqa/ungroup.hpp"
#include "kernels/attention/sm80/unsupported.hpp"

namespace tbench::kernels {
namespace {

constexpr std::array<std::int64_t, 6> kHeadDims{16, 32, 64, 80, 96, 128};
constexpr std::int64_t kLargeHeadDim16Bit = 256;
constexpr std::int64_t kMaxGridYz = 65535;                    // CUDA's maximum of gridDim.y and gridDim.z
constexpr std::int64_t kMaxSequence = std::int64_t{1} << 30;  // rows are counted in int inside the kernels

std::optional<std::string> extent_problem(const AttentionShape& shape) {
  // The sm80 kernels take each head of K and V of a group as a sequence of the batch.
  const std::int64_t most_sequences = shape.group() == 1 ? kMaxGridYz * kMaxGridYz : kMaxGridYz;
  for (const auto& [name, extent, most] : {std::tuple{"batch", shape.batch, kMaxGridYz},
                                           {"heads", shape.heads, kMaxGridYz},
                                           {"batch x kv_heads", shape.batch * shape.key_heads(), most_sequences},
                                           {"seq_q", shape.seq_q, kMaxSequence},
                                           {"seq_kv", shape.seq_kv, kMaxSequence}}) {
    if (extent < 1 || extent > most) return fmt::format("{} is {}: the kernels take 1 to {}", name, extent, most);
  }
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    return fmt::format("{} heads of k and v do not divide {} heads", shape.kv_heads, shape.heads);
  }
  if (shape.causal && shape.seq_q != shape.seq_kv) {
    return fmt::format("a causal mask needs as many queries as keys, not {} and {}", shape.seq_q, shape.seq_kv);
  }
  return std::nullopt;
}

/// Calls `function.operator()<P>()`, where P is `precision`.
template <class Function>
void with_precision(Precision precision, const Function& function) {
  switch (precision) {
    case Precision::kBf16:
      return function.template operator()<Precision::kBf16>();
    case Precision::kFp16:
      return function.template operator()<Precision::kFp16>();
    case Precision::kTf32:
      return function.template operator()<Precision::kTf32>();
    case Precision::kFp32:
      return function.template operator()<Precision::kFp32>();
  }
}

TensorLayout layout_of(const TensorView& view) {
  constexpr std::uintptr_t kMaxAlignment = 16;
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(view.data) | kMaxAlignment;
  return {.strides = view.strides, .alignment = static_cast<int>(address & (~address + 1))};
}

/// Checks that the arguments of a call have the layout that its plan was made for.
class ArgumentCheck {
 public:
  explicit ArgumentCheck(std::string_view function) : function_{function} {}

  void tensor(std::string_view name, const TensorView& view, const TensorLayout& planned) const {
    const TensorLayout layout = layout_of(view);
    if (layout.strides != planned.strides) {
      throw std::invalid_argument{
          fmt::format("{}: {} has strides {{{}}}, the plan was made for {{{}}}; make a new plan", function_, name,
                      fmt::join(layout.strides, ", "), fmt::join(planned.strides, ", "))};
    }
    if (layout.alignment < planned.alignment) {
      throw std::invalid_argument{
          fmt::format("{}: {} is aligned to {} bytes, the plan was made for {}; make a new plan", function_, name,
                      layout.alignment, planned.alignment)};
    }
  }

  void workspace(const AttentionPlan& plan, const void* workspace) const {
    if (plan.workspace_bytes() == 0 || workspace != nullptr) return;
    throw std::invalid_argument{
        fmt::format("{}: workspace is null: the plan needs {} bytes, AttentionPlan::workspace_bytes()", function_,
                    plan.workspace_bytes())};
  }

 private:
  std::string_view function_;
};

template <class Pass>
const Pass& pass_of(const AttentionPlan& plan, std::string_view function) {
  if (const Pass* const pass = std::get_if<Pass>(&plan.state().pass)) return *pass;
  throw std::invalid_argument{fmt::format("{0}: the plan is of the other pass; make one with plan_{0}()", function)};
}

/// Launches the kernels of the plan's path.
struct ForwardLauncher {
  const AttentionPlan::State& plan;
  const AttentionForward& arguments;
  cudaStream_t stream;

  void operator()(const sm80::FwdPlan& pass) const {
    with_precision(plan.problem.precision, [&]<Precision kPrecision>() {
      if (plan.problem.shape.group() == 1) {
        return sm80::launch_forward<kPrecision>(plan.problem, pass, arguments, stream);
      }
      sm80::for_each_launch(plan.problem, arguments, [&](const AttentionProblem& one, const AttentionForward& of_one) {
        sm80::launch_forward<kPrecision>(one, pass, of_one, stream);
      });
    });
  }
  void operator()(const sm90::FwdPlan& pass) const {
    const bool is_bf16 = plan.problem.precision == Precision::kBf16;
    const auto launch =
        plan.problem.shape.group() == 1
            ? (is_bf16 ? &sm90::launch_forward<Precision::kBf16> : &sm90::launch_forward<Precision::kFp16>)
            : (is_bf16 ? &sm90::launch_gqa_forward<Precision::kBf16> : &sm90::launch_gqa_forward<Precision::kFp16>);
    launch(plan.problem, arguments, pass, plan.limits, stream);
  }
  void operator()(const sm90_tf32::FwdPlan& pass) const {
    sm90_tf32::launch_forward(plan.problem, arguments, pass, plan.limits, stream);
  }
};

struct BackwardLauncher {
  const AttentionPlan::State& plan;
  const AttentionBackward& arguments;
  cudaStream_t stream;

  void operator()(const sm80::BwdPlan& pass) const {
    with_precision(plan.problem.precision, [&]<Precision kPrecision>() {
      if (plan.problem.shape.group() == 1) {
        return sm80::launch_backward<kPrecision>(plan.problem, pass, arguments, stream);
      }
      const std::size_t bytes = pass.workspace.bytes();
      sm80::for_each_launch(plan.problem, arguments, bytes,
                            [&](const AttentionProblem& one, const AttentionBackward& of_one) {
                              sm80::launch_backward<kPrecision>(one, pass, of_one, stream);
                            });
      sm80::add_gradients_of_groups(plan.problem, arguments, bytes, stream);
    });
  }
  void operator()(const sm90::BwdPlan& pass) const {
    const bool is_bf16 = plan.problem.precision == Precision::kBf16;
    const auto launch =
        plan.problem.shape.group() == 1
            ? (is_bf16 ? &sm90::launch_backward<Precision::kBf16> : &sm90::launch_backward<Precision::kFp16>)
            : (is_bf16 ? &sm90::launch_gqa_backward<Precision::kBf16> : &sm90::launch_gqa_backward<Precision::kFp16>);
    launch(plan.problem, arguments, pass, plan.limits, stream);
  }
  void operator()(const sm90_tf32::BwdPlan& pass) const {
    sm90_tf32::launch_backward(plan.problem, arguments, pass, stream);
  }
};

}  // namespace

std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (auto reason = missing_code_reason(limits, built_architectures())) return reason;
  const bool exact = std::ranges::find(kHeadDims, problem.shape.head_dim) != kHeadDims.end();
  const bool large = is_16bit(problem.precision) && problem.shape.head_dim == kLargeHeadDim16Bit;
  if (!exact && !large) {
    return fmt::format(
        "head_dim {} has no kernel in {} (there are {}{}): its tiles would not fit shared memory or registers",
        problem.shape.head_dim, to_string(problem.precision), fmt::join(kHeadDims, ", "),
        is_16bit(problem.precision) ? ", 256" : "");
  }
  if (!(problem.scale > 0.0f) || !std::isfinite(problem.scale)) {
    return fmt::format("scale is {}: the kernels take a positive, finite one", problem.scale);
  }
  if (auto reason = extent_problem(problem.shape)) return reason;
  return sm80::unsupported_reason(problem, limits);
}

bool operator==(const AttentionProblem& a, const AttentionProblem& b) {
  const auto members = [](const AttentionProblem& problem) {
    const AttentionShape& shape = problem.shape;
    return std::tie(shape.batch, shape.heads, shape.seq_q, shape.seq_kv, shape.head_dim, shape.causal, shape.kv_heads,
                    problem.precision, problem.scale, problem.deterministic, problem.layout);
  };
  return members(a) == members(b);
}

AttentionLayout layout_of(const AttentionForward& arguments) {
  return {.q = layout_of(arguments.q),
          .k = layout_of(arguments.k),
          .v = layout_of(arguments.v),
          .o = layout_of(arguments.o)};
}

AttentionLayout layout_of(const AttentionBackward& arguments) {
  return {.q = layout_of(arguments.q),
          .k = layout_of(arguments.k),
          .v = layout_of(arguments.v),
          .o = layout_of(arguments.o),
          .grad_o = layout_of(arguments.grad_o),
          .dq = layout_of(arguments.dq),
          .dk = layout_of(arguments.dk),
          .dv = layout_of(arguments.dv)};
}

AttentionLayout contiguous_layout(const AttentionShape& shape) {
  const auto contiguous = [&shape](std::int64_t heads, std::int64_t seq) {
    return TensorLayout{.strides = {heads * seq * shape.head_dim, seq * shape.head_dim, shape.head_dim},
                        .alignment = 16};
  };
  const TensorLayout queries = contiguous(shape.heads, shape.seq_q);
  const TensorLayout keys = contiguous(shape.key_heads(), shape.seq_kv);
  return {.q = queries, .k = keys, .v = keys, .o = queries, .grad_o = queries, .dq = queries, .dk = keys, .dv = keys};
}

void attention_forward(const AttentionPlan& plan, const AttentionForward& arguments, cudaStream_t stream) {
  constexpr std::string_view kFunction = "attention_forward";
  const FwdPlan& pass = pass_of<FwdPlan>(plan, kFunction);
  const AttentionLayout& layout = plan.problem().layout;
  const ArgumentCheck check{kFunction};
  check.tensor("q", arguments.q, layout.q);
  check.tensor("k", arguments.k, layout.k);
  check.tensor("v", arguments.v, layout.v);
  check.tensor("o", arguments.o, layout.o);
  check.workspace(plan, arguments.workspace);
  std::visit(ForwardLauncher{plan.state(), arguments, stream}, pass);
}

void attention_backward(const AttentionPlan& plan, const AttentionBackward& arguments, cudaStream_t stream) {
  constexpr std::string_view kFunction = "attention_backward";
  const BwdPlan& pass = pass_of<BwdPlan>(plan, kFunction);
  const AttentionLayout& layout = plan.problem().layout;
  const ArgumentCheck check{kFunction};
  check.tensor("q", arguments.q, layout.q);
  check.tensor("k", arguments.k, layout.k);
  check.tensor("v", arguments.v, layout.v);
  check.tensor("o", arguments.o, layout.o);
  check.tensor("grad_o", arguments.grad_o, layout.grad_o);
  check.tensor("dq", arguments.dq, layout.dq);
  check.tensor("dk", arguments.dk, layout.dk);
  check.tensor("dv", arguments.dv, layout.dv);
  check.workspace(plan, arguments.workspace);
  std::visit(BackwardLauncher{plan.state(), arguments, stream}, pass);
}

}  // namespace tbench::kernels
