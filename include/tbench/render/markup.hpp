// Any text as a part of CSV, markup, LaTeX or Markdown; and JUnit's XML, from whatever has test cases.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tbench::render {

/// One line of CSV (RFC 4180, but ended by a single newline).
[[nodiscard]] std::string csv_row(std::span<const std::string> cells);

/// Text of XML or HTML, attributes included: markup escaped, control characters as spaces, bytes that are not UTF-8
/// replaced.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Text of Markdown, in a table's cell too: pipes, backslashes, angle brackets and links are escaped.
[[nodiscard]] std::string escape_markdown(std::string_view text);

/// Text of LaTeX, whose ten special characters are escaped.
[[nodiscard]] std::string escape_latex(std::string_view text);

struct JunitCase {
  enum class Result { kPassed, kFailed, kSkipped };
  std::string family;
  std::string name;
  Result result{Result::kPassed};
  std::string message;  // of one that did not pass
};

/// Texts may hold anything: markup is escaped, what XML 1.0 cannot hold is replaced.
[[nodiscard]] std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases);

}  // namespace tbench::render
