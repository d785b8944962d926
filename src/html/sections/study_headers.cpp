#include "html/sections/section_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"

namespace tbench::html {
namespace {

using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 8> kDerived{"speed-up", "change %", "change pp", "exponent",
                                                   "r²",       "largest",  "first OOM", "std"};

}  // namespace

bool is_key(const render::Column& column) {
  return column.align == render::Align::kLeft && column.header != render::kMarksHeader;
}

StudyQuantity quantity_of(const std::string& header) {
  StudyQuantity quantity;
  Texts rest;
  for (const std::string& word : split(header, ' ')) {
    const std::size_t colon = word.find(':');
    if (rest.empty() && colon != std::string::npos && colon > 0 && colon + 1 < word.size()) {
      quantity.keys.emplace_back(word.substr(0, colon), word.substr(colon + 1));
    } else {
      rest.push_back(word);
    }
  }
  quantity.name = join(rest, " ");
  return quantity;
}

bool is_derived(const std::string& quantity) {
  return std::ranges::any_of(kDerived, [&](std::string_view word) { return quantity.find(word) != std::string::npos; });
}

std::string quantity_of_caption(const std::string& caption) {
  const std::size_t dot = caption.find(". ");
  std::string text = dot == std::string::npos ? caption : caption.substr(dot + 2);
  for (const std::string_view end : {" by ", ";", ",", ":"}) text = text.substr(0, text.find(end));
  return text;
}

std::string value_of(const StudyKeys& keys, std::string_view key) {
  const auto found = std::ranges::find(keys, key, [](const auto& pair) { return pair.first; });
  return found == keys.end() ? "" : found->second;
}

std::string joined(const StudyKeys& keys, const std::vector<std::string>& of) {
  Texts texts;
  for (const auto& [key, value] : keys) {
    if (std::ranges::find(of, key) == of.end()) continue;
    texts.push_back(parse_integer(value) ? fmt::format("{} {}", key, value) : value);
  }
  return join(texts, " ");
}

std::string joined(const StudyKeys& keys) {
  Texts of;
  for (const auto& [key, value] : keys) of.push_back(key);
  return joined(keys, of);
}

}  // namespace tbench::html
