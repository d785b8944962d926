#include "junit.hpp"

#include <fmt/format.h>

#include "escapes.hpp"

namespace tbench::report {
namespace {

std::string element(const JunitCase& c) {
  const std::string head =
      fmt::format(R"(  <testcase classname="{}" name="{}")", escape_markup(c.family), escape_markup(c.name));
  if (c.result == JunitCase::Result::kPassed) return head + "/>\n";
  return fmt::format("{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", head,
                     c.result == JunitCase::Result::kFailed ? "failure" : "skipped", escape_markup(c.message));
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
      escape_markup(suite), cases.size(), failures, skipped, tests);
}

}  // namespace tbench::report
