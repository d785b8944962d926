#include "bench/cli/value_forms.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

constexpr const char* kDigits = "0123456789";

/// Returns I/N for two numbers with something else between them.
std::optional<std::string> meant_shard(const std::string& text) {
  const std::size_t end = text.find_first_not_of(kDigits);
  const std::size_t begin = text.find_last_not_of(kDigits);
  if (end == std::string::npos || text.substr(end, begin - end).find_first_of(kDigits) != std::string::npos) {
    return std::nullopt;
  }
  const std::string meant = text.substr(0, end) + "/" + text.substr(begin + 1);
  return parse_shard(meant) ? std::optional{meant} : std::nullopt;
}

/// Returns CASE:SHARE for a share in percent.
std::optional<std::string> meant_delay(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || !text.ends_with('%')) return std::nullopt;
  const std::optional<std::int64_t> percent = parse_integer(text.substr(colon + 1, text.size() - colon - 2));
  if (!percent) return std::nullopt;
  const std::string meant = fmt::format("{}:{}", text.substr(0, colon), static_cast<double>(*percent) / 100);
  return parse_injected_delay(meant) ? std::optional{meant} : std::nullopt;
}

std::string or_example(const std::optional<std::string>& meant, const char* example) {
  return meant ? fmt::format("; did you mean '{}'?", *meant) : fmt::format(", e.g. {}", example);
}

}  // namespace

Shard shard_of(const std::string& text) {
  if (const auto shard = parse_shard(text)) return *shard;
  throw UsageError{
      fmt::format("--tb_shard: '{}' is not I/N with 1 <= I <= N{}", text, or_example(meant_shard(text), "2/4"))};
}

InjectedDelay injected_delay_of(const std::string& text) {
  if (auto delay = parse_injected_delay(text)) return *delay;
  throw UsageError{fmt::format("--tb_plant: '{}' is not CASE:SHARE with a share above 0 and at most 1{}", text,
                               or_example(meant_delay(text), "CASE:0.05"))};
}

}  // namespace tbench::bench
