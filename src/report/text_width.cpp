#include "tbench/report/text_width.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbench::report {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode 15, blocks rather than single characters: East_Asian_Width W and F; general categories Mn, Me and Cf.
constexpr std::array kWide{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
                           Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
                           Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
                           Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
                           Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kCombining{Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD},
                                Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F},
                                Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

bool is_in(const auto& ranges, std::uint32_t point) {
  return std::ranges::any_of(ranges, [&](Range range) { return range.first <= point && point <= range.last; });
}

struct Character {
  std::size_t bytes;
  std::size_t width;
};

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// The character at the start of `text`, which is not empty.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) return {1, 1};
  const std::size_t bytes = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < bytes) return {1, 1};
  std::uint32_t point = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {1, 1};
    point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  if (is_in(kCombining, point)) return {bytes, 0};
  return {bytes, is_in(kWide, point) ? std::size_t{2} : std::size_t{1}};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string fit(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string{text};
  if (width == 0) return {};
  std::size_t taken = 0;
  std::size_t used = 1;  // the ellipsis
  while (taken < text.size()) {
    const Character character = first_character(text.substr(taken));
    if (used + character.width > width) break;
    used += character.width;
    taken += character.bytes;
  }
  return std::string{text.substr(0, taken)} + "…";
}

std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t taken = display_width(text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  return align == Align::kLeft ? std::string{text} + space : space + std::string{text};
}

std::string one_line(std::string_view text) {
  std::string line{text};
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = ' ';
  }
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

}  // namespace tbench::report
