// Escapes text for CSV, markup, LaTeX and Markdown, and writes test cases as JUnit XML.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tbench::render {

/// Returns one line of CSV (RFC 4180, but with a single newline at the end).
[[nodiscard]] std::string csv_row(std::span<const std::string> cells);

/// Escapes text for XML or HTML, including attributes: escapes markup, and replaces control characters by spaces and
/// bytes that are not UTF-8.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Escapes text for Markdown, including table cells: pipes, backslashes, angle brackets and links.
[[nodiscard]] std::string escape_markdown(std::string_view text);

/// Escapes the ten special characters of LaTeX.
[[nodiscard]] std::string escape_latex(std::string_view text);

struct JunitCase {
  enum class Result { kPassed, kFailed, kSkipped };
  std::string family;
  std::string name;
  Result result{Result::kPassed};
  std::string message;  // message of a test that did not pass
};

/// Returns JUnit XML. Texts may contain any character: markup is escaped, and characters invalid in XML 1.0 are
/// replaced.
[[nodiscard]] std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases);

}  // namespace tbench::render
