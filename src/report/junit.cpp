#include "junit.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tbench/report/result_json.hpp"

namespace tbench::report {
namespace {

/// Text in XML: markup escaped, and characters that XML 1.0 cannot hold replaced.
std::string xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
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

/// UTF-8 that is none would make the document invalid: as in JSON, it is replaced.
std::string valid_utf8(const std::string& text) { return Json::parse(compact(Json(text))).get<std::string>(); }

std::string element(const JunitCase& c) {
  const std::string head =
      fmt::format(R"(  <testcase classname="{}" name="{}")", xml(valid_utf8(c.family)), xml(valid_utf8(c.name)));
  if (c.result == JunitCase::Result::kPassed) return head + "/>\n";
  return fmt::format("{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", head,
                     c.result == JunitCase::Result::kFailed ? "failure" : "skipped", xml(valid_utf8(c.message)));
}

}  // namespace

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
      xml(suite), cases.size(), failures, skipped, tests);
}

}  // namespace tbench::report
