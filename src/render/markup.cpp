#include "tbench/render/markup.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::render {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted{"\""};
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

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

/// Replaces bytes that are not UTF-8, which would make a document invalid.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const Sequence sequence = first_sequence(text);
    valid += sequence.is_whole ? text.substr(0, sequence.bytes) : kReplacement;
    text.remove_prefix(sequence.bytes);
  }
  return valid;
}

std::string_view latex_of(char letter) {
  switch (letter) {
    case '\\':
      return R"(\textbackslash{})";
    case '~':
      return R"(\textasciitilde{})";
    case '^':
      return R"(\textasciicircum{})";
    case '&':
      return R"(\&)";
    case '%':
      return R"(\%)";
    case '$':
      return R"(\$)";
    case '#':
      return R"(\#)";
    case '_':
      return R"(\_)";
    case '{':
      return R"(\{)";
    case '}':
      return R"(\})";
    default:
      return {};
  }
}

std::string element(const JunitCase& c) {
  const std::string head =
      fmt::format(R"(  <testcase classname="{}" name="{}")", escape_markup(c.family), escape_markup(c.name));
  if (c.result == JunitCase::Result::kPassed) return head + "/>\n";
  return fmt::format("{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", head,
                     c.result == JunitCase::Result::kFailed ? "failure" : "skipped", escape_markup(c.message));
}

}  // namespace

std::string csv_row(std::span<const std::string> cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return join(quoted, ",") + "\n";
}

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  char before = 0;
  for (const char c : text) {
    const bool would_link = before == ']' && c == '(';
    if (c == '|' || c == '\\' || c == '<' || c == '>' || would_link) escaped += '\\';
    escaped += c;
    before = c;
  }
  return escaped;
}

std::string escape_latex(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    const std::string_view special = latex_of(letter);
    if (special.empty()) {
      escaped += letter;
    } else {
      escaped += special;
    }
  }
  return escaped;
}

std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases) {
  std::size_t failures = 0;
  std::size_t skipped = 0;
  std::string tests;
  for (const JunitCase& c : cases) {
    failures += c.result == JunitCase::Result::kFailed ? 1 : 0;
    skipped += c.result == JunitCase::Result::kSkipped ? 1 : 0;
    tests += element(c);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}</testsuite>\n",
      escape_markup(suite), cases.size(), failures, skipped, tests);
}

}  // namespace tbench::render
