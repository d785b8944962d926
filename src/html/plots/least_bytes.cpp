#include "html/plots/least_bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/core/work.hpp"

namespace tbench::html {
namespace {

/// The bytes per element of the inputs and outputs in a precision.
struct ElementBytes {
  std::int64_t input{};
  std::int64_t output{};
};

std::optional<ElementBytes> element_of(const std::string& precision) {
  if (precision == "fp8_e4m3") return ElementBytes{.input = 1, .output = 2};
  const std::optional<Precision> stored = parse_enum<Precision>(precision);
  if (!stored) return std::nullopt;
  return ElementBytes{.input = storage_bytes(*stored), .output = storage_bytes(*stored)};
}

std::string text_of(const CaseId& id, std::string_view key) {
  const std::string* const value = id.find(key);
  return value == nullptr ? "" : *value;
}

/// Returns the value of `key`, or nullopt unless it is a positive number that a shape can have.
std::optional<std::int64_t> extent_of(const CaseId& id, std::string_view key) {
  const std::optional<std::int64_t> value = parse_integer(text_of(id, key));
  constexpr std::int64_t kMax = 1 << 20;
  return value && *value > 0 && *value <= kMax ? value : std::nullopt;
}

std::optional<double> gemm_bytes(const CaseId& id, const ElementBytes& element) {
  const auto m = extent_of(id, "m");
  const auto n = extent_of(id, "n");
  const auto k = extent_of(id, "k");
  if (!m || !n || !k) return std::nullopt;
  const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  return (size(*m, *k) + size(*k, *n)) * static_cast<double>(element.input) +
         size(*m, *n) * static_cast<double>(element.output);
}

std::optional<double> attention_bytes(const CaseId& id, const ElementBytes& element) {
  const auto batch = extent_of(id, "batch");
  const auto heads = extent_of(id, "heads");
  const auto d_model = extent_of(id, "d_model");
  const auto length = extent_of(id, "seq_len");
  const auto pass = parse_enum<AttentionPass>(text_of(id, "pass"));
  // There is no bound for both passes together: attention_min_bytes() counts the bytes that they hold at once, but they
  // move more.
  if (!batch || !heads || !d_model || !length || !pass || pass == AttentionPass::kForwardBackward) return std::nullopt;
  constexpr double kMaxElements = 1e15;  // far beyond any memory
  if (static_cast<double>(*batch) * static_cast<double>(*d_model) * static_cast<double>(*length) > kMaxElements) {
    return std::nullopt;
  }
  const AttentionShape shape{.batch = *batch,
                             .heads = *heads,
                             .seq_q = *length,
                             .seq_kv = *length,
                             .head_dim = *d_model / *heads,
                             .causal = false,
                             .kv_heads = extent_of(id, "kv_heads").value_or(0)};
  return static_cast<double>(attention_min_bytes(shape, *pass, element.input));
}

}  // namespace

std::optional<double> least_bytes(const Record& record) {
  if (record.work && record.work->bytes > 0) return static_cast<double>(record.work->bytes);
  const std::optional<ElementBytes> element = element_of(text_of(record.id, "precision"));
  if (!element) return std::nullopt;
  if (record.id.family() == "Gemm") return gemm_bytes(record.id, *element);
  if (record.id.family() == "Attention") return attention_bytes(record.id, *element);
  return std::nullopt;
}

}  // namespace tbench::html
