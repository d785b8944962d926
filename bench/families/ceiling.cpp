// The Ceiling family: the measured limits of this GPU, with which the rates of the other families are compared.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/families/sustained.hpp"
#include "tbench/model/ceiling_case.hpp"

namespace tbench::bench::ceiling_family {
namespace {

using Values = std::vector<std::string>;

const Values kStreams{"copy", "read", "write", "l2_read"};
const Values kProducts{"gemm_fp32", "gemm_tf32", "gemm_bf16", "gemm_fp16", "gemm_fp8_e4m3"};
const Values kDevice{"launch", "event"};
const Values kQueue{"queue_gap"};
/// The ceilings that involve the host, whose work no spin kernel can hide, and page-locked copies for comparison.
const Values kHost{"dispatch", "h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable"};

bool contains(const Values& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

void add(std::vector<CaseTable>& tables, const std::string& name, Suite suite, const Values& what,
         const Values& regime) {
  tables.push_back({name, suite, /*is_course_grid=*/what == kProducts, {{"what", what}, {"regime", regime}}});
}

std::vector<CaseTable> tables() {
  std::vector<CaseTable> all;
  add(all, "bandwidth", Suite::kSmoke, {"copy", "read", "write"}, {"burst"});
  add(all, "products", Suite::kSmoke, {"gemm_fp32"}, {"burst", "sustained"});
  add(all, "host", Suite::kSmoke, {"dispatch"}, {"sustained"});
  for (const Suite suite : {Suite::kStandard, Suite::kFull}) {
    add(all, "bandwidth", suite, kStreams, {"burst"});
    add(all, "products", suite, kProducts, {"burst", "sustained"});
    add(all, "device", suite, kDevice, {"burst"});
    add(all, "queue", suite, kQueue, {"sustained"});
    add(all, "host", suite, kHost, {"sustained"});
  }
  return all;
}

std::optional<std::string> invalid_reason(const CaseId& id) {
  const std::string& what = id.at("what");
  if (contains(kProducts, what)) return std::nullopt;
  const bool is_chained = contains(kHost, what) || contains(kQueue, what);
  if (id.at("regime") == (is_chained ? "sustained" : "burst")) return std::nullopt;
  return fmt::format("{} is only measured {}", what, is_chained ? "sustained" : "in bursts");
}

/// Keeps the time of all ceilings together to a few seconds, and makes it independent of the protocol of the compared
/// cases: --tb_warmup and --tb_samples do not apply to ceilings.
void prescribe(const CaseId& id, measure::SamplerOptions& sampler) {
  sampler.fixed_warm_up.reset();
  sampler.fixed_samples.reset();
  const auto at_most = [](Seconds& time, Seconds limit) { time = std::min(time, limit); };
  at_most(sampler.warm_up_limit, Seconds{1.5});
  at_most(sampler.sample_limit, Seconds{2.0});
  const bool is_chained_product = contains(kProducts, id.at("what")) && id.at("regime") == "sustained";
  at_most(sampler.warm_up_time, Seconds{0.1});
  at_most(sampler.sample_time, Seconds{is_chained_product ? 0.3 : 0.1});
  if (is_chained_product) {
    sampler.fixed_warm_up = 20;  // determines the length of a step
    sample_at_power_limit(sampler);
  } else if (contains(kHost, id.at("what"))) {
    at_most(sampler.warm_up_limit, Seconds{0.3});
    at_most(sampler.sample_limit, Seconds{0.4});
  }
  sampler.l2 = id.at("what") == "l2_read" ? L2State::kWarm : L2State::kCold;
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {
      .spec = {.name = "Ceiling",
               .keys = {{"what", model::ceiling_names()}, {"regime", {"burst", "sustained"}}},
               .tables = tables(),
               .invalid_reason = &invalid_reason,
               .has_own_l2 = true},
      .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
        return model::make_ceiling_case({.what = id.at("what"),
                                         .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                                         .seed = context.seed});
      },
      .precision = [](const CaseId& id) { return model::ceiling_precision(id.at("what")); },
      .prescribe = &prescribe};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Ceiling", .order = 80, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::ceiling_family
