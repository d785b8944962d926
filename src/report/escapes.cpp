#include "escapes.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::report {
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

/// UTF-8 that is none would make a document invalid: as in JSON, it is replaced.
std::string valid_utf8(const std::string& text) { return Json::parse(compact(Json(text))).get<std::string>(); }

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

}  // namespace

std::string csv_row(std::span<const std::string> cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return join(quoted, ",") + "\n";
}

std::string escape_markup(const std::string& text) {
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

}  // namespace tbench::report
