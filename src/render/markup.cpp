#include "tbench/render/markup.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "render/utf8.hpp"
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
