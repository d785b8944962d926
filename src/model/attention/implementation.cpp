#include "model/attention/implementation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbench::model {
namespace {

bool computes(const AttentionImpl& impl, Precision precision) {
  return std::ranges::find(impl.precisions, precision) != impl.precisions.end();
}

}  // namespace

Registry<AttentionImpl>& attention_impls() {
  static Registry<AttentionImpl> impls{"impl", Registered<AttentionImpl>::sorted()};
  return impls;
}

std::optional<std::string> cpu_refusal(const AttentionConfig& config) {
  if (config.device != DeviceKind::kCpu) return std::nullopt;
  return fmt::format("{} has no CPU kernel", config.impl);
}

std::vector<std::string> attention_impl_names() { return attention_impls().names(); }

std::vector<std::string> attention_impl_names(Precision precision) {
  return attention_impls().names_where([&](const AttentionImpl& impl) { return computes(impl, precision); });
}

std::vector<std::string> deterministic_attention_impl_names(Precision precision) {
  return attention_impls().names_where(
      [&](const AttentionImpl& impl) { return computes(impl, precision) && impl.has_deterministic_mode; });
}

}  // namespace tbench::model
