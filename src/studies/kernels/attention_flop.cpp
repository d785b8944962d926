#include "studies/kernels/attention_flop.hpp"

#include <algorithm>
#include <string>

#include "tbench/core/model_size.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

std::optional<double> number_of(const CaseId& id, const std::string& key) {
  const std::string* const text = id.find(key);
  const auto value = text == nullptr ? std::nullopt : parse_integer(*text);
  return value ? std::optional{static_cast<double>(*value)} : std::nullopt;
}

}  // namespace

std::optional<AttentionFlop> attention_flop(const CaseId& id) {
  const auto sizes = builtin_model_sizes();
  const std::string* const name = id.find("size");
  const auto size = std::ranges::find_if(sizes, [&](const ModelSize& known) { return name && known.name == *name; });
  const auto batch = number_of(id, "batch");
  const auto context = number_of(id, "ctx");
  if (size == sizes.end() || !batch || !context) return std::nullopt;
  const double scores = static_cast<double>(size->num_layers * size->num_heads) * *batch * *context * *context;
  return AttentionFlop{.softmax = 5 * scores, .matmul = 4 * scores * static_cast<double>(size->head_dim())};
}

}  // namespace tbench::studies
