#include "tbench/render/gpu_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::render {
namespace {

constexpr std::array<std::string_view, 4> kBrands{"NVIDIA", "Tesla", "GeForce", "Quadro"};
constexpr std::array<std::string_view, 4> kFormFactors{"SXM", "PCIE", "HBM", "GENERATION"};

std::string in_capitals(std::string_view text) {
  std::string capitals{text};
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
  return capitals;
}

/// Returns whether a word tells the memory or the form factor: `80GB`, `HBM3`, `SXM4`, `PCIe`.
bool ends_the_name(std::string_view word) {
  const std::string capitals = in_capitals(word);
  const auto begins = [&](std::string_view what) { return capitals.starts_with(what); };
  return capitals.ends_with("GB") || std::ranges::any_of(kFormFactors, begins);
}

}  // namespace

std::string short_gpu_name(std::string_view name) {
  std::string spaced{name};
  std::ranges::replace(spaced, '-', ' ');
  std::vector<std::string> kept;
  for (const std::string& word : split(spaced, ' ')) {
    if (word.empty() || std::ranges::find(kBrands, word) != kBrands.end()) continue;
    if (ends_the_name(word)) break;
    kept.push_back(word);
  }
  return kept.empty() ? std::string{name} : join(kept, " ");
}

}  // namespace tbench::render
