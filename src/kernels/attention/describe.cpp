// Descriptions of plans, in words and numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/attention/plan.hpp"
#include "kernels/attention/sm80/gqa/ungroup.hpp"
#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"
#include "kernels/attention/sm90/bwd_split/config.hpp"

namespace tbench::kernels {
namespace {

/// Formats a number with thousands separators: "199,680".
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::int64_t ctas(const Launch& launch) { return launch.grid.x * launch.grid.y * launch.grid.z; }

KernelDescription described(std::string name, const Launch& launch, bool overlaps) {
  return {.name = std::move(name),
          .launch = fmt::format("{} CTAs x {} threads, {} B shared memory{}", grouped(ctas(launch)), launch.threads,
                                grouped(static_cast<std::int64_t>(launch.shared_bytes)),
                                overlaps ? ", programmatic dependent launch" : "")};
}

std::string one_tile_per_cta(const Launch& launch, std::string_view of = "work tiles") {
  return fmt::format("one tile per CTA: {} {}", grouped(ctas(launch)), of);
}

std::string persistent(bool dynamic, std::int64_t tiles, std::int64_t groups) {
  return fmt::format("{} persistent, {}: {} work tiles for {} consumer groups", dynamic ? "dynamic" : "static",
                     dynamic ? "atomic counter" : "snake order", grouped(tiles), grouped(groups));
}

std::string_view name_of(sm80::FwdConfigId tiles) {
  switch (tiles) {
    case sm80::FwdConfigId::kM128N64:
      return "FwdM128N64";
    case sm80::FwdConfigId::kM64N64:
      break;
    case sm80::FwdConfigId::kWarpSplitM64:
      return "FwdWarpSplit<64>";
    case sm80::FwdConfigId::kWarpSplitM32:
      return "FwdWarpSplit<32>";
    case sm80::FwdConfigId::kWarpSplitM16:
      return "FwdWarpSplit<16>";
    case sm80::FwdConfigId::kSplitKv:
      return "FwdSplitKv";
  }
  return "FwdM64N64";
}

std::string_view name_of(sm90::FwdConfigId tiles) {
  switch (tiles) {
    case sm90::FwdConfigId::kM128N128:
      break;
    case sm90::FwdConfigId::kM192N128:
      return "FwdM192N128";
    case sm90::FwdConfigId::kM192N64:
      return "FwdM192N64";
    case sm90::FwdConfigId::kM192N64Wide:
      return "FwdM192N64Wide";
    case sm90::FwdConfigId::kM256N64:
      return "FwdM256N64";
    case sm90::FwdConfigId::kM128N64:
      return "FwdM128N64";
    case sm90::FwdConfigId::kM128N64x2:
      return "FwdM128N64x2";
    case sm90::FwdConfigId::kM64N128x2:
      return "FwdM64N128x2";
  }
  return "FwdM128N128";
}

std::string_view name_of(const sm90::BwdPlan& plan) {
  switch (plan.sums) {
    case sm90::DqAccumulation::kAtomic:
      return plan.blocks == sm90::BwdSchedule::kPersistent ? "atomic dQ (persistent)" : "atomic dQ (one tile per CTA)";
    case sm90::DqAccumulation::kPerKvTile:
      return "partial dQ per K/V tile";
    case sm90::DqAccumulation::kPerHead:
      return plan.shares == 1 ? "one CTA per head" : "two CTAs per head";
    case sm90::DqAccumulation::kNone:
      break;
  }
  return plan.is_alone ? "split with fused row statistics" : "split";
}

std::string_view name_of(sm80::BwdAlgorithm method) {
  switch (method) {
    case sm80::BwdAlgorithm::kAtomicDq:
      return "atomic";
    case sm80::BwdAlgorithm::kSplit:
    case sm80::BwdAlgorithm::kSplitFusedDelta:
      break;
  }
  return "split";
}

/// Returns the name of a kernel's instance: "attention_bwd_sm90_tile_kernel<bf16, 128>".
std::string instance(std::string_view kernel, const AttentionProblem& problem, std::string_view more = "") {
  return fmt::format("{}<{}, {}{}{}>", kernel, to_string(problem.precision), problem.shape.head_dim,
                     more.empty() ? "" : ", ", more);
}

/// Describes the plan of one path, apart from the workspace bytes and rules, which all paths share.
struct Describer {
  const AttentionProblem& problem;
  const DeviceLimits& limits;

  [[nodiscard]] bool is_grouped() const { return problem.shape.group() != 1; }
  [[nodiscard]] std::string_view gqa() const { return is_grouped() ? "_gqa" : ""; }
  /// For the sm80 kernels, whose launches may take one sequence of grouped-query attention at a time.
  [[nodiscard]] std::string launches_per_sequence() const {
    if (!is_grouped() || sm80::folds_batch(problem)) return {};
    return fmt::format(", one launch for each of {} sequences", problem.shape.batch);
  }
  [[nodiscard]] std::string_view width() const { return is_16bit(problem.precision) ? "16bit" : "fp32"; }

  PlanDescription operator()(const sm80::FwdPlan& plan) const {
    const AttentionProblem of_launch = sm80::ungrouped(problem);
    const sm80::FwdConfig tile = sm80::forward_tile(of_launch, plan.tiles);
    const Launch launch = is_16bit(problem.precision)
                              ? sm80::forward_launch(of_launch.shape, tile, plan.split_kv.num_splits)
                              : sm80::forward_32bit_launch(of_launch.shape, tile);
    PlanDescription all{.schedule = one_tile_per_cta(launch), .config = "sm80"};
    all.kernels.push_back(described(
        instance(fmt::format("attention_fwd_sm80_{}_kernel", width()), problem, name_of(plan.tiles)), launch, false));
    if (plan.tiles == sm80::FwdConfigId::kSplitKv) {
      all.schedule += fmt::format(", keys in {} parts of {}", plan.split_kv.num_splits, grouped(plan.split_kv.keys));
      all.kernels.push_back(described(instance("attention_fwd_sm80_splitkv_combine_kernel", problem),
                                      sm80::forward_combine_launch(of_launch.shape), false));
    }
    all.schedule += launches_per_sequence();
    return all;
  }

  PlanDescription operator()(const sm90::FwdPlan& plan) const {
    const sm90::FwdConfig tile = sm90::forward_tile(plan.tiles);
    const Launch launch = sm90::forward_launch(problem.shape, tile, limits);
    const auto tiles = sm90::forward_order(problem.shape, rows(tile), plan.in_turns).items;
    return {
        .kernels = {described(instance(fmt::format("attention_fwd_sm90{}_kernel", gqa()), problem, name_of(plan.tiles)),
                              launch, plan.overlaps)},
        .schedule = persistent(plan.counted, tiles, ctas(launch) * tile.teams),
        .config = std::string{name_of(plan.tiles)}};
  }

  PlanDescription operator()(const sm90_tf32::FwdPlan& plan) const {
    const Launch launch = sm90_tf32::forward_launch(problem.shape, limits);
    return {.kernels = {described(instance("attention_fwd_sm90_tf32_preprocess_kernel", problem),
                                  sm90_tf32::prepare_launch(problem.shape), true),
                        described(instance("attention_fwd_sm90_tf32_kernel", problem), launch, true)},
            .schedule = persistent(plan.counted, sm90_tf32::forward_order(problem.shape, plan).items, ctas(launch)),
            .config = "sm90_tf32"};
  }

  PlanDescription operator()(const sm80::BwdPlan& plan) const {
    const AttentionProblem of_launch = sm80::ungrouped(problem);
    const bool is_16 = is_16bit(problem.precision), is_atomic = plan.method == sm80::BwdAlgorithm::kAtomicDq;
    const int head_dim = static_cast<int>(of_launch.shape.head_dim);
    PlanDescription all{.config = "sm80"};
    if (plan.method != sm80::BwdAlgorithm::kSplitFusedDelta) {
      all.kernels.push_back(
          described(instance(fmt::format("attention_bwd_sm80_preprocess_{}_kernel", width()), problem),
                    backward_helper_launch(of_launch.shape, 0), false));
    }
    const sm80::BwdConfig tile = !is_16      ? sm80::backward_32bit_tile(of_launch, plan.method, plan.splits_warps)
                                 : is_atomic ? sm80::BwdAtomic::tile(head_dim)
                                             : sm80::BwdSplit::tile(head_dim);
    const Launch launch = is_16 ? sm80::backward_launch(of_launch, tile, plan.method)
                                : sm80::backward_32bit_launch(of_launch.shape, tile, plan.method);
    all.kernels.push_back(
        described(instance(fmt::format("attention_bwd_sm80_{}_{}_kernel", name_of(plan.method), width()), problem),
                  launch, false));
    if (is_16 && is_atomic) {
      all.kernels.push_back(described(
          instance("attention_bwd_sm80_postprocess_16bit_kernel", problem),
          backward_helper_launch(of_launch.shape, kBackwardHelperRows * sm80::padded_row_bytes_16bit(head_dim)),
          false));
    }
    all.schedule = one_tile_per_cta(launch, is_atomic ? "K/V tiles" : "K/V tiles and Q tiles") +
                   (plan.heads_first ? ", the heaviest of all heads first" : "") + launches_per_sequence();
    if (is_grouped()) {
      all.kernels.push_back(
          described(fmt::format("attention_bwd_sm80_add_groups_kernel<{}>", to_string(problem.precision)),
                    sm80::add_groups_launch(problem.shape), false));
    }
    return all;
  }

  PlanDescription operator()(const sm90::BwdPlan& plan) const {
    PlanDescription all{.config = std::string{name_of(plan)}};
    const bool is_split = plan.sums == sm90::DqAccumulation::kNone;
    if (!plan.is_alone) {
      all.kernels.push_back(described(instance("attention_bwd_sm90_preprocess_kernel", problem),
                                      sm90::backward_prepare_launch(problem.shape), true));
    }
    all.kernels.push_back(is_split ? split(plan, all) : whole(plan, all));
    const bool writes_dq = is_split || (plan.sums == sm90::DqAccumulation::kPerHead && plan.shares == 1);
    if (!writes_dq) {
      all.kernels.push_back(described(instance("attention_bwd_sm90_postprocess_kernel", problem),
                                      sm90::backward_convert_launch(problem.shape), true));
    }
    if (plan.parts > 1) {
      all.kernels.push_back(described(instance("attention_bwd_sm90_add_parts_kernel", problem),
                                      sm90::backward_add_parts_launch(problem.shape), true));
    }
    return all;
  }

  PlanDescription operator()(const sm90_tf32::BwdPlan& plan) const {
    const Launch keys = sm90_tf32::backward_launch(problem.shape, sm90::Stationary::kKv);
    const Launch queries = sm90_tf32::backward_launch(problem.shape, sm90::Stationary::kQ);
    return {.kernels = {described(instance("attention_bwd_sm90_tf32_preprocess_kernel", problem),
                                  sm90_tf32::backward_prepare_launch(problem.shape), true),
                        described(instance("attention_bwd_sm90_tf32_dkdv_kernel", problem), keys, true),
                        described(instance("attention_bwd_sm90_tf32_dq_kernel", problem), queries, true)},
            .schedule = fmt::format("one tile per CTA: {} K/V tiles{}, then {} Q tiles", grouped(ctas(keys)),
                                    plan.pingpong ? " in ping-pong order" : "", grouped(ctas(queries))),
            .config = "sm90_tf32"};
  }

 private:
  /// Describes the split backward kernel, and sets `all.schedule`.
  KernelDescription split(const sm90::BwdPlan& plan, PlanDescription& all) const {
    const sm90::SplitConfig tile = plan.is_alone ? sm90::SplitFusedStats::tile() : sm90::SplitPreprocessed::tile();
    const Launch launch = sm90::kinds_launch(problem.shape, tile, limits);
    all.schedule = persistent(false, sm90::kinds_order(problem.shape).items, ctas(launch) * sm90::kKindsTeams);
    return described(
        instance("attention_bwd_sm90_split_kernel", problem, plan.is_alone ? "SplitFusedStats" : "SplitPreprocessed"),
        launch, true);
  }

  /// Describes the main kernel of a pass whose work tiles are K/V tiles, and sets `all.schedule`.
  KernelDescription whole(const sm90::BwdPlan& plan, PlanDescription& all) const {
    const bool by_heads = plan.sums == sm90::DqAccumulation::kPerHead;
    const Launch launch = by_heads ? sm90::backward_heads_launch(problem.shape, plan.shares, limits)
                                   : sm90::backward_launch(problem.shape, plan.blocks, limits, plan.parts);
    const std::string divided =
        plan.parts > 1 ? fmt::format(", {} parts of {} query heads", plan.parts, problem.shape.group() / plan.parts)
                       : "";
    if (plan.blocks == sm90::BwdSchedule::kOneTilePerCta) {
      all.schedule = one_tile_per_cta(launch, "K/V tiles") + divided;
      return described(problem.shape.head_dim == 256
                           ? instance("attention_bwd_sm90_hdim256_kernel", problem)
                           : instance(fmt::format("attention_bwd_sm90_tile{}_kernel", gqa()), problem),
                       launch, true);
    }
    const std::string_view sums = by_heads                                        ? "kPerHead"
                                  : plan.sums == sm90::DqAccumulation::kPerKvTile ? "kPerKvTile"
                                                                                  : "kAtomic";
    all.schedule =
        by_heads ? fmt::format("one head in {}: {} K/V tiles, {}", plan.shares == 1 ? "a CTA" : "two CTAs",
                               grouped(sm90::backward_order(problem.shape).items), all.config)
                 : persistent(false, sm90::backward_order(problem.shape, plan.parts).items, ctas(launch)) + divided;
    return described(instance(fmt::format("attention_bwd_sm90_persistent{}_kernel", gqa()), problem, sums), launch,
                     true);
  }
};

}  // namespace

PlanDescription AttentionPlan::describe() const {
  const Describer describer{state_->problem, state_->limits};
  const auto of_path = [&](const auto& path) { return std::visit(describer, path); };
  PlanDescription description = std::visit(of_path, state_->pass);
  description.workspace_bytes = state_->workspace_bytes;
  for (const RuleName& rule : state_->rules) description.rules.push_back(to_string(rule));
  return description;
}

}  // namespace tbench::kernels
