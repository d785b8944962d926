#include "tbench/render/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/utf8.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::render {
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

/// Returns the character at the start of `text`, which is not empty.
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

constexpr std::size_t kDefaultWidth = 80;  // of a terminal that does not tell
constexpr std::size_t kMinNameWidth = 8;
constexpr const char* kEraseLine = "\r\x1b[K";

/// Returns whether the text begins with a control character beyond ASCII, in UTF-8: U+0080 to U+009F, U+061C, U+200E
/// and U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool is_wide_control(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0xC2) return byte(1) >= 0x80 && byte(1) <= 0x9F;
  if (byte(0) == 0xD8) return byte(1) == 0x9C;
  if (byte(0) != 0xE2) return false;
  if (byte(1) == 0x80) return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
  return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
}

/// Returns the bytes of the control character that the text begins with; 0 if it begins with none.
std::size_t control_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20U || first == 0x7F) return 1;
  if (first < 0x80U || !is_wide_control(text)) return 0;
  return first == 0xE2 ? 3 : 2;
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

std::string without_controls(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string plain;
  plain.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const std::size_t bytes = control_length(rest);
    plain += bytes > 0 ? ' ' : rest.front();
    rest.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return plain;
}

std::string one_line(std::string_view text) {
  const std::string line = without_controls(text);
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

std::string without_trailing_spaces(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

void add_wrapped(std::vector<std::string>& lines, std::string begin, std::string_view text, std::size_t indent,
                 std::size_t width) {
  std::string line = std::move(begin);
  bool is_begin = true;
  for (const std::string& word : split(text, ' ')) {
    if (!is_begin && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line = std::string(indent, ' ');
      is_begin = true;
    }
    line += is_begin ? word : " " + word;
    is_begin = false;
  }
  lines.push_back(std::move(line));
}

std::optional<std::size_t> terminal_width(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

std::size_t console_width(int descriptor) {
  return std::min(terminal_width(descriptor).value_or(kConsoleWidth), kConsoleWidth);
}

std::string progress_text(const Progress& progress, std::size_t width) {
  const std::string before = fmt::format("[{}/{}] ", progress.number, progress.count);
  std::string after = fmt::format(" · {} · {} elapsed", progress.activity, format_clock(progress.elapsed));
  if (progress.remaining) after += fmt::format(", about {} left", format_clock(*progress.remaining));
  const std::size_t taken = display_width(before) + display_width(after);
  const std::size_t room = std::max(kMinNameWidth, width > taken ? width - taken : 0);
  return fit(before + fit(progress.name, room) + after, width);
}

void ProgressLine::update(const Progress& progress) {
  if (!width_) return;
  // A full last column makes some terminals go to the next line.
  const std::size_t width = *width_ > 1 ? *width_ - 1 : 1;
  fmt::print(out_, "{}{}", kEraseLine, progress_text(progress, width));
  std::fflush(out_);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (!is_shown_) return;
  fmt::print(out_, "{}", kEraseLine);
  std::fflush(out_);
  is_shown_ = false;
}

}  // namespace tbench::render
