#include <fmt/format.h>

#include <algorithm>

#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

/// Returns the size that the case's key `size` names, with all of its layers; null if there is none.
const ModelSize* whole_size_of(const CaseId& id, std::span<const ModelSize> sizes) {
  const std::string* const name = id.find("size");
  if (name == nullptr) return nullptr;
  const auto found = std::ranges::find(sizes, *name, &ModelSize::name);
  return found == sizes.end() ? nullptr : &*found;
}

bool is_shorter(const std::optional<std::int64_t>& layers, const ModelSize& size) {
  return layers && *layers >= 1 && *layers < size.num_layers;
}

}  // namespace

std::optional<ModelSize> model_size_of(const CaseId& id, std::span<const ModelSize> sizes) {
  const ModelSize* const whole = whole_size_of(id, sizes);
  const std::string* const value = id.find(kLayersKey);
  if (whole == nullptr) return std::nullopt;
  if (value == nullptr) return *whole;
  const std::optional<std::int64_t> layers = parse_integer(*value);
  if (!is_shorter(layers, *whole)) return std::nullopt;
  ModelSize size = *whole;
  size.name = fmt::format("{}.layers{}", whole->name, *layers);
  size.num_layers = *layers;
  return size;
}

std::optional<std::string> layers_invalid_reason(const CaseId& id, std::span<const ModelSize> sizes) {
  const ModelSize* const whole = whole_size_of(id, sizes);
  const std::string* const value = id.find(kLayersKey);
  if (whole == nullptr || value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> layers = parse_integer(*value);
  if (is_shorter(layers, *whole)) return std::nullopt;
  if (layers == whole->num_layers) {
    return fmt::format("layers:{} is the size's own number of layers, which names omit. Leave the key layers out.",
                       *value);
  }
  return fmt::format("layers:{} is not from 1 to {}: the size has {} layers. Give fewer, or leave the key layers out.",
                     *value, whole->num_layers - 1, whole->num_layers);
}

}  // namespace tbench
