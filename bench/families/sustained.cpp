#include "bench/families/sustained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tbench/core/enums.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {
namespace {

constexpr const char* kKey = "regime";
/// The smallest working set, in sizes of the L2 cache, of which a launch finds nothing that the one before it left.
constexpr std::int64_t kCaches = 2;

std::string name_of(Regime regime) { return std::string{to_string(regime)}; }

}  // namespace

KeySpec regime_key() { return {kKey, {name_of(Regime::kBurst), name_of(Regime::kSustained)}}; }

Axis regime_axis(std::vector<std::string> regimes) { return {kKey, std::move(regimes), name_of(Regime::kBurst)}; }

bool is_sustained(const CaseId& id) {
  const std::string* const regime = id.find(kKey);
  return regime != nullptr && *regime == name_of(Regime::kSustained) && id.family() != "Ceiling";
}

void sample_at_power_limit(measure::SamplerOptions& sampler) {
  // A clock at the power limit takes 0.2 s to settle, and any break undoes that. Therefore each chunk is long and drops
  // its first part. It ends before the control of the limit overshoots: from 0.55 s on this control takes up to a fifth
  // of the rate for 0.2 s (measured on an H200), differently in every process.
  sampler.dropped_time = sampler.chunk_time;
  sampler.chunk_time = sampler.chunk_time * 2.2;
  sampler.max_chunk = 1024;
  sampler.max_samples = 2048;
  sampler.precise_half_width = 0.005;
}

void prescribe_sustained(const CaseId& id, measure::SamplerOptions& sampler) {
  if (!is_sustained(id)) return;
  sample_at_power_limit(sampler);
  sampler.warm_up_time = std::min(sampler.warm_up_time, Seconds{0.5});
  sampler.warm_up_limit = std::max(sampler.warm_up_limit, Seconds{5.0});
  // The shortest launches that a working set of twice the L2 cache allows take some 30 us.
  sampler.max_chunk = 16384;
  sampler.max_samples = 16384;
}

std::optional<std::string> sustained_unsupported_reason(const CaseId& id, const Case& subject,
                                                        std::optional<std::int64_t> l2_bytes) {
  if (!is_sustained(id)) return std::nullopt;
  const std::string* const impl = id.find("impl");
  if (impl != nullptr && model::find_plugin(*impl) != nullptr) {
    return "plug-ins are measured in bursts alone, between which their operands are drawn again: leave out "
           "regime:sustained";
  }
  if (!l2_bytes || subject.min_bytes() >= kCaches * *l2_bytes) return std::nullopt;
  constexpr double kMebi = 1024.0 * 1024.0;
  return fmt::format(
      "its operands of {:.1f} MiB could stay in the L2 cache of {:.1f} MiB from one launch to the next: measure it in "
      "bursts, without regime:sustained, or give it at least {:.1f} MiB",
      static_cast<double>(subject.min_bytes()) / kMebi, static_cast<double>(*l2_bytes) / kMebi,
      static_cast<double>(kCaches * *l2_bytes) / kMebi);
}

}  // namespace tbench::bench
