// Converts a gate's report to JUnit's XML, with the outcomes of the run as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gate/run_outcomes.hpp"
#include "tbench/core/error.hpp"
#include "tbench/gate/gate_output.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::gate {
namespace {

render::JunitCase::Result junit_result(Outcome outcome, bool is_confirmed, bool strict) {
  using enum render::JunitCase::Result;
  if (results::is_failure(outcome, strict, is_confirmed)) return kFailed;
  const bool is_fine = results::headline_of(outcome, is_confirmed) == Headline::kPassed;
  return is_fine && outcome != Outcome::kNew ? kPassed : kSkipped;
}

render::JunitCase test_case(const CaseReport& c, bool strict) {
  render::JunitCase test{
      .family = c.family, .name = c.name, .message = fmt::format("{}: {}", to_string(c.outcome), case_line(c))};
  test.result = c.is_expected || c.outcome != Outcome::kNotJudged ? junit_result(c.outcome, c.is_confirmed, strict)
                                                                  : render::JunitCase::Result::kSkipped;
  return test;
}

/// Returns a test for each part of the evidence. If there are several findings about a part, the gravest counts.
std::vector<render::JunitCase> tests_of_run(const GateReport& report, bool strict) {
  std::vector<render::JunitCase> tests;
  const std::vector<OfRun> all = of_run(report);
  for (const Subject subject : kAllOf<Subject>) {
    const auto found = std::ranges::find(all, subject, &OfRun::subject);
    render::JunitCase test{.family = "run", .name = std::string{to_string(subject)}, .message = "as it should be"};
    if (found != all.end()) {
      test.message = fmt::format("{}: {}", to_string(found->outcome), found->text);
      test.result = junit_result(found->outcome, false, strict);
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace

std::string report_to_junit(const GateReport& report, bool strict) {
  std::vector<render::JunitCase> cases;
  for (const CaseReport& c : report.cases) cases.push_back(test_case(c, strict));
  std::ranges::move(tests_of_run(report, strict), std::back_inserter(cases));
  return render::junit_xml("tbench gate", cases);
}

}  // namespace tbench::gate
