#include "bench/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/kernels/attention.hpp"
#include "tbench/kernels/attention_measurements.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::bench {
namespace {

constexpr std::string_view kHere = "here";
constexpr std::size_t kMaxColumns = 100;
constexpr std::size_t kLabelColumns = 13;

struct KnownDevice {
  std::string_view choice;  // of --tb_explain
  ExplainedDevice device;
};

/// Returns the devices with their SMs and shared memory per CTA (datasheets and CUDA C++ Programming Guide).
const std::array<KnownDevice, 3>& known_devices() {
  const auto device = [](const char* name, int major, int num_sms, std::size_t shared_kib) {
    return ExplainedDevice{.name = name,
                           .limits = {.compute_capability_major = major,
                                      .compute_capability_minor = 0,
                                      .multiprocessors = num_sms,
                                      .shared_bytes_per_block = shared_kib * 1024}};
  };
  static const std::array known{KnownDevice{"a100", device("A100", 8, 108, 163)},
                                KnownDevice{"h100", device("H100", 9, 132, 227)},
                                KnownDevice{"h200", device("H200", 9, 132, 227)}};
  return known;
}

ExplainedDevice current_device() {
  if (cuda::device_count() == 0) {
    throw UsageError{"--tb_explain=here: this process cannot use a GPU. Give a100, h100 or h200."};
  }
  const std::string model = cuda::gpu_facts(nullptr).name;
  const auto& known = known_devices();
  const auto measured = std::ranges::find_if(
      known, [&](const KnownDevice& one) { return model.find(one.device.name) != std::string::npos; });
  return {.name = measured == known.end() ? model : measured->device.name, .limits = kernels::current_device_limits()};
}

/// Formats a line "  label      text"; a text that is too long continues on lines below it.
std::string line(std::string_view label, const std::string& text) {
  std::vector<std::string> lines;
  render::add_wrapped(lines, fmt::format("  {:<{}}", label, kLabelColumns - 2), text, kLabelColumns, kMaxColumns);
  return join(lines, "\n") + '\n';
}

/// The attention of a case that this project's kernels compute.
struct OwnAttention {
  kernels::AttentionProblem problem;
  bool has_forward{}, has_backward{};
};

/// @param kv_heads  AttentionShape::kv_heads
kernels::AttentionProblem problem_of(const CaseId& id, std::int64_t heads, std::int64_t kv_heads, std::int64_t width,
                                     std::int64_t seq, bool causal) {
  kernels::AttentionProblem problem{.shape = {.batch = id.int_at("batch"),
                                              .heads = heads,
                                              .seq_q = seq,
                                              .seq_kv = seq,
                                              .head_dim = width / heads,
                                              .causal = causal,
                                              .kv_heads = kv_heads},
                                    .precision = parse_enum<Precision>(id.at("precision")).value()};
  problem.scale = 1.0F / std::sqrt(static_cast<float>(problem.shape.head_dim));
  const std::string* const deterministic = id.find("deterministic");
  problem.deterministic = deterministic != nullptr && *deterministic == "1";
  problem.layout = kernels::contiguous_layout(problem.shape);
  return problem;
}

std::int64_t kv_heads_of(const CaseId& id) {
  const std::string* const value = id.find("kv_heads");
  return value == nullptr ? 0 : id.int_at("kv_heads");
}

/// Returns nullopt for cases of ATen, and of families without attention.
std::optional<OwnAttention> own_attention(const CaseId& id, const std::vector<ModelSize>& sizes) {
  const std::string* const impl = id.find("impl");
  if (impl == nullptr || (*impl != "flash" && *impl != "fused")) return std::nullopt;
  if (id.family() == "Attention") {
    const std::string& pass = id.at("pass");
    return OwnAttention{.problem = problem_of(id, id.int_at("heads"), kv_heads_of(id), id.int_at("d_model"),
                                              id.int_at("seq_len"), id.at("causal") == "1"),
                        .has_forward = pass != "backward",
                        .has_backward = pass != "forward"};
  }
  if (id.family() != "Model") return std::nullopt;
  const ModelSize size = model_size_of(id, sizes).value();
  return OwnAttention{.problem = problem_of(id, size.num_heads, size.own_kv_heads, size.q_width(), id.int_at("ctx"),
                                            /*causal=*/true),
                      .has_forward = true,
                      .has_backward = id.at("pass") != "forward"};
}

/// Returns the measured time, then the times of other configs from the fastest to the slowest: "7.2 us;
/// FwdM128N128 9.3, sm80 14.7 (H100, warm L2; heuristics/sm90_fwd.csv)"
std::string measured(const kernels::AttentionPlan& plan, std::string_view pass, const std::string& config,
                     const std::string& gpu) {
  for (kernels::AttentionMeasurement one : kernels::attention_measurements_of(plan.problem(), pass, gpu)) {
    std::ranges::stable_sort(one.times, {}, &kernels::AttentionMeasurement::Time::us);
    const auto own = std::ranges::find(one.times, config, &kernels::AttentionMeasurement::Time::config);
    if (own == one.times.end()) continue;
    std::vector<std::string> others;
    for (const auto& time : one.times) {
      if (time.config != config) others.push_back(fmt::format("{} {}", time.config, time.us));
    }
    return fmt::format("{} us{}{} ({}{}; heuristics/{})", own->us, others.empty() ? "" : "; ", join(others, ", "), gpu,
                       one.l2.empty() ? "" : ", " + one.l2 + " L2", one.file);
  }
  return "not measured";
}

std::string plan_lines(const kernels::AttentionPlan& plan, std::string_view pass, const std::string& gpu) {
  const kernels::PlanDescription plan_description = plan.describe();
  std::string all;
  for (const kernels::KernelDescription& kernel : plan_description.kernels) {
    all += line("kernel", kernel.name) + line("launch", kernel.launch);
  }
  all += line("schedule", plan_description.schedule);
  all += line("workspace", render::format_thousands(static_cast<double>(plan_description.workspace_bytes)) + " B");
  for (const std::string& rule : plan_description.rules) all += line("rule", rule);
  return all + line("measured", measured(plan, pass, plan_description.config, gpu));
}

std::string lines_of(const OwnAttention& own, const ExplainedDevice& device) {
  if (const auto reason = kernels::attention_unsupported_reason(own.problem, device.limits)) {
    return line("no plan:", *reason);
  }
  const bool has_both = own.has_forward && own.has_backward;
  std::string all;
  if (own.has_forward) {
    if (has_both) all += line("pass", "forward");
    all += plan_lines(plan_attention_forward(own.problem, device.limits), "forward", device.name);
  }
  if (own.has_backward) {
    if (has_both) all += line("pass", "backward");
    all += plan_lines(plan_attention_backward(own.problem, device.limits), "backward", device.name);
  }
  return all;
}

}  // namespace

ExplainedDevice explained_device(std::string_view name) {
  if (name == kHere) return current_device();
  const auto& known = known_devices();
  const auto found = std::ranges::find(known, name, &KnownDevice::choice);
  if (found != known.end()) return found->device;
  std::vector<std::string> choices{std::string{kHere}};
  for (const KnownDevice& device : known) choices.emplace_back(device.choice);
  throw UsageError{with_suggestion(fmt::format("--tb_explain: '{}' is not a device", name), name, choices, "devices")};
}

std::string explanation_of(const CaseId& id, const ExplainedDevice& device, const std::vector<ModelSize>& sizes) {
  const kernels::DeviceLimits& limits = device.limits;
  std::string all = id.name() + '\n';
  const std::optional<OwnAttention> own = own_attention(id, sizes);
  if (!own) return all + "  no plan: ATen\n";
  all += line("device", fmt::format("{} ({}.{}, {} SMs)", device.name, limits.compute_capability_major,
                                    limits.compute_capability_minor, limits.multiprocessors));
  return all + lines_of(*own, device);
}

}  // namespace tbench::bench
