#include "bench/kernel_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/profile/product_precision.hpp"

namespace tbench::bench {
namespace {

constexpr std::string_view kOurKernels = "tbench::kernels::";

bool has_our_attention(const CaseId& id) {
  return id.family() == "Model" && (id.at("impl") == "flash" || id.at("impl") == "fused");
}

bool runs(const StepTrace& step, std::string_view phase) {
  return std::ranges::any_of(step.kernels, [&](const TracedKernel& kernel) { return kernel.phase == phase; });
}

bool runs_ours(const StepTrace& step, std::string_view phase) {
  return std::ranges::any_of(step.kernels, [&](const TracedKernel& kernel) {
    return kernel.phase == phase && kernel.kernel_class == "attention_fused" &&
           kernel.name.find(kOurKernels) != std::string::npos;
  });
}

}  // namespace

std::optional<std::string> kernel_path_problem(const CaseId& id, const StepTrace& step) {
  if (step.dropped > 0) return std::nullopt;  // what is missing may be what is asked for
  const bool has_kernels = id.family() == "Model" || id.family() == "Attention" || id.family() == "Gemm";
  if (has_kernels && step.kernels.empty()) return "the traced steps launched nothing on the GPU";
  if (has_our_attention(id)) {
    for (const std::string_view phase : {"forward", "backward"}) {
      if (!runs(step, phase) || runs_ours(step, phase)) continue;
      return fmt::format("impl:{}: no kernel of the {} pass is a fused attention of {}", id.at("impl"), phase,
                         kOurKernels);
    }
  }
  const std::string* const name = id.find("precision");
  const auto precision = name == nullptr ? std::nullopt : parse_enum<Precision>(*name);
  return precision ? profile::product_problem(step, *precision) : std::nullopt;
}

}  // namespace tbench::bench
