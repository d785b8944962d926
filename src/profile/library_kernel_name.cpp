#include "profile/library_kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::profile {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kTile = "tilesize";
// Positions of the words of a name, which underscores separate.
constexpr std::size_t kLibrary = 1, kTypes = 4, kLayouts = 6, kTileSize = 8;

/// Returns the type of the multiplied elements in `tf32f32`, or an empty text.
std::string_view type_in(std::string_view types) {
  constexpr std::array<std::string_view, 5> kKnown{"tf32", "bf16", "f32", "f16", "f64"};
  const auto found = std::ranges::find_if(kKnown, [&](std::string_view type) { return types.starts_with(type); });
  return found == kKnown.end() ? std::string_view{} : *found;
}

/// Returns the words between `execute` and `kernel`: ` split_k`. Returns an empty text if there are none.
std::string division_in(const Texts& words) {
  const auto begin = std::ranges::find(words, "execute");
  const auto end = std::find(begin, words.end(), "kernel");
  if (begin == words.end() || end - begin < 2) return "";
  return " " + join(Texts{begin + 1, end}, "_");
}

}  // namespace

std::optional<std::string> xmma_kernel_name(const std::string& name) {
  const Texts words = split(name, '_');
  if (words.size() <= kTileSize || words[kLibrary] != "xmma" || !words[kTileSize].starts_with(kTile)) {
    return std::nullopt;
  }
  const std::string_view type = type_in(words[kTypes]);
  if (type.empty()) return std::nullopt;
  return fmt::format("{}_xmma_{} [{} {} {}{}]", words[0], words[kLibrary + 1], type, words[kLayouts],
                     words[kTileSize].substr(kTile.size()), division_in(words));
}

}  // namespace tbench::profile
