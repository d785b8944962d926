// Tests that `--json` alone shows the outcome, its cause and the next command, for every command in the situations that
// users meet. Each row is run with the real program, and so is the command that the document names as the next one.
// TBENCH_DOCUMENTS=FOLDER keeps the documents for tests/tools/output_schema_test.py and does not run the next command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "situation.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;

std::vector<Situation> all_situations() {
  std::vector<Situation> all;
  for (const auto& some : {diff_situations(), fleet_situations(), gate_situations(), history_situations(),
                           report_situations(), profile_situations()}) {
    std::ranges::copy(some, std::back_inserter(all));
  }
  return all;
}

class Situations : public testing::TestWithParam<Situation> {};

/// Expects the program to accept the command: it does not refuse it (2, 3), and the program exists (126, 127).
void expect_accepted(const Sandbox& sandbox, const std::string& command) {
  const Sandbox::Result result = sandbox.run(command);
  EXPECT_THAT(result.exit_status, testing::AnyOf(0, 1, 4, 5, 6)) << command << "\n" << result.err;
}

TEST_P(Situations, FollowFromTheJsonAlone) {
  const Situation& situation = GetParam();
  const Sandbox sandbox;
  if (situation.prepare) situation.prepare(sandbox);
  const Sandbox::Result result = sandbox.run(situation.command);
  EXPECT_EQ(result.exit_status, situation.exit_status) << result.err;
  const results::Json json = results::Json::parse(result.out);
  if (const char* folder = std::getenv("TBENCH_DOCUMENTS")) {
    support::write_text(std::string{folder} + "/" + situation.name + ".json", result.out);
  }
  EXPECT_EQ(json.at("schema"), "tbench." + situation.kind + "/2");
  EXPECT_EQ(json.at("outcome"), situation.outcome);
  EXPECT_EQ(json.value("exit_status", situation.exit_status), situation.exit_status);
  const std::string why = join(json.at("why").get<std::vector<std::string>>(), "\n");
  for (const std::string& cause : situation.why) EXPECT_THAT(why, HasSubstr(cause));
  const results::Json& next = json.at("next");
  EXPECT_EQ(next.is_null() ? std::string{} : next.get<std::string>(), situation.next);
  if (next.is_string() && std::getenv("TBENCH_DOCUMENTS") == nullptr) expect_accepted(sandbox, next.get<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Json, Situations, testing::ValuesIn(all_situations()),
                         [](const auto& situation) { return situation.param.name; });

}  // namespace
}  // namespace tbench::tool
