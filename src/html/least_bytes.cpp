#include "html/least_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/text.hpp"
#include "tbench/core/work.hpp"

namespace tbench::html {
namespace {

/// Of an element of a precision's inputs and outputs.
struct ElementBytes {
  std::string_view precision;
  std::int64_t input{};
  std::int64_t output{};
};
constexpr std::array kElements{ElementBytes{"fp32", 4, 4}, ElementBytes{"tf32", 4, 4}, ElementBytes{"bf16", 2, 2},
                               ElementBytes{"fp16", 2, 2}, ElementBytes{"fp8_e4m3", 1, 2}};

std::string text_of(const CaseId& id, std::string_view key) {
  const std::string* const value = id.find(key);
  return value == nullptr ? "" : *value;
}

/// Nothing unless it is a number above 0 that a shape can have.
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
  // What both passes hold at once is less than what they move.
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
                             .causal = false};
  return static_cast<double>(attention_min_bytes(shape, *pass, element.input));
}

}  // namespace

std::optional<double> least_bytes(const Record& record) {
  if (record.work && record.work->bytes > 0) return static_cast<double>(record.work->bytes);
  const auto element = std::ranges::find(kElements, text_of(record.id, "precision"), &ElementBytes::precision);
  if (element == kElements.end()) return std::nullopt;
  if (record.id.family() == "Gemm") return gemm_bytes(record.id, *element);
  if (record.id.family() == "Attention") return attention_bytes(record.id, *element);
  return std::nullopt;
}

}  // namespace tbench::html
