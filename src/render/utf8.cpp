#include "render/utf8.hpp"

#include <cstddef>

namespace tbench::render {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_in(char byte, unsigned low, unsigned high) {
  const auto value = static_cast<unsigned char>(byte);
  return low <= value && value <= high;
}

/// The bytes of the character that `text` begins with (Unicode 15, table 3-7): a whole character, or the longest valid
/// beginning of one, at least one byte.
struct Sequence {
  std::size_t bytes;
  bool is_whole;
};

Sequence first_sequence(std::string_view text) {
  const char lead = text.front();
  if (is_in(lead, 0x00, 0x7F)) return {1, true};
  const std::size_t length = is_in(lead, 0xC2, 0xDF)   ? 2
                             : is_in(lead, 0xE0, 0xEF) ? 3
                             : is_in(lead, 0xF0, 0xF4) ? 4
                                                       : 1;
  if (length == 1) return {1, false};
  const auto first = static_cast<unsigned char>(lead);
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;   // no overlong encoding
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;  // no surrogate, none above U+10FFFF
  std::size_t bytes = 1;
  while (bytes < length && bytes < text.size() &&
         (bytes == 1 ? is_in(text[bytes], low, high) : is_in(text[bytes], 0x80, 0xBF))) {
    ++bytes;
  }
  return {bytes, bytes == length};
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const Sequence sequence = first_sequence(text);
    valid += sequence.is_whole ? text.substr(0, sequence.bytes) : kReplacement;
    text.remove_prefix(sequence.bytes);
  }
  return valid;
}

}  // namespace tbench::render
