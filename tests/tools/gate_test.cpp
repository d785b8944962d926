// Tests `tbench gate` and `tbench history` as a user runs them, with a transformer_bench that measures nothing
// (fake_bench).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using Variables = std::map<std::string, std::string>;
using Arguments = std::vector<std::string>;

support::ChildResult tbench(Arguments arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_tool(arguments);
}

class TbenchGate : public testing::Test {
 protected:
  /// Returns the command: the variables that `env` sets, and the program.
  static Arguments fake(const Variables& variables) {
    Arguments command{"/usr/bin/env"};
    for (const auto& [name, value] : variables) command.push_back(name + "=" + value);
    command.emplace_back(TBENCH_FAKE_BENCH);
    return command;
  }

  /// Returns the same command as text for a shell.
  static std::string command(const Variables& variables) {
    std::string text;
    for (const std::string& word : fake(variables)) text += "'" + word + "' ";
    return text;
  }

  /// Measures five processes of a night.
  Arguments measure(int night, Variables variables = {}) {
    Arguments files;
    for (int process = 0; process < 5; ++process) {
      variables["FAKE_DATE"] = format_timestamp(1'767'322'800 + night * 86'400 + process * 600);
      if (!variables.contains("FAKE_COMMIT")) variables["FAKE_COMMIT"] = "night" + std::to_string(night);
      files.push_back(folder_.file("night" + std::to_string(night) + "_" + std::to_string(process) + ".json"));
      Arguments run = fake(variables);
      run.push_back("--benchmark_out=" + files.back());
      EXPECT_LE(support::run_tool(run).exit_status, 1);
    }
    return files;
  }

  /// Measures them into one file, as ci/nightly.sh does, in a fifth of the time.
  Arguments measure_at_once(int night) {
    Arguments run = fake({{"FAKE_DATE", format_timestamp(1'767'322'800 + night * 86'400)},
                          {"FAKE_COMMIT", "night" + std::to_string(night)}});
    const std::string file = folder_.file("night" + std::to_string(night) + ".json");
    run.insert(run.end(), {"--tb_processes=5", "--benchmark_out=" + file});
    EXPECT_EQ(support::run_tool(run).exit_status, 0);
    return {file};
  }

  support::ChildResult gate(Arguments files, const Arguments& flags = {}) {
    files.insert(files.begin(), {"gate", "--db", db_});
    files.insert(files.end(), flags.begin(), flags.end());
    return tbench(files);
  }

  void quiet_nights(int count) {
    for (int night = 0; night < count; ++night) {
      const support::ChildResult result = gate(measure_at_once(night));
      ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
    }
  }

  Arguments confirming(const Variables& tonight) {
    return {"--good",        command({{"FAKE_SEED", "good"}}), "--new", command(tonight),
            "--confirm-dir", folder_.file("confirm")};
  }

  support::TemporaryFolder folder_;
  std::string db_ = folder_.file("history.db");
};

TEST_F(TbenchGate, MachinesOfAPoolAreOneSeries) {
  const Variables slow_gpu{{"FAKE_GPU", "GPU-2"}, {"FAKE_SLOW", "."}, {"FAKE_FACTOR", "1.2"}};
  for (int night = 0; night < 10; ++night) {
    ASSERT_EQ(gate(measure(night, night % 2 == 0 ? Variables{} : slow_gpu)).exit_status, 0);
  }
  const auto runs_of_cases = [&](const Arguments& flags) {
    Arguments all{"--json", "--dry-run"};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto report = nlohmann::json::parse(gate(measure(10), all).out);
    EXPECT_EQ(report.at("outcomes").value("SAME", 0), 8);
    return report.at("night").at("cases").at(0).at("nights").get<int>();
  };
  EXPECT_EQ(runs_of_cases({}), 5);
  EXPECT_EQ(runs_of_cases({"--pool"}), 10);
}

TEST_F(TbenchGate, NightAfterNight) {
  quiet_nights(9);
  const Variables slow{{"FAKE_SLOW", "2\\.7B/.*train_step"}};
  const Arguments files = measure(9, slow);

  const support::ChildResult dry = gate(files, {"--dry-run"});
  EXPECT_EQ(dry.exit_status, 0);
  EXPECT_THAT(dry.out, HasSubstr("\nUNCONFIRMED  "));
  EXPECT_THAT(dry.out, HasSubstr("\n  case: Model/size:2.7B"));
  EXPECT_THAT(dry.err, HasSubstr("dry run"));

  const support::ChildResult regressed = gate(files, confirming(slow));
  EXPECT_EQ(regressed.exit_status, 1) << regressed.err;
  EXPECT_THAT(regressed.out,
              AllOf(HasSubstr("\nREGRESSED "), HasSubstr("\n  case: Model/size:2.7B"), HasSubstr("2026-01-11 (night9)"),
                    HasSubstr("\nFAILED: 1 REGRESSED, 7 SAME. Not kept.\n")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.file("confirm")}, {}), 24);
  const auto confirmed = [&](const std::string& file) {
    return results::Json::parse(results::read_whole_file(folder_.file("confirm/" + file)));
  };
  EXPECT_EQ(confirmed("good_1_new_1.json").at("benchmarks").size(), 1U) << "suspects only";
  const auto seed = [&](const std::string& file) {
    return confirmed(file).at("context").at("tbench").at("options").value("seed", "");
  };
  EXPECT_EQ(seed("good_3_new_1.json"), "") << "the first half repeats the night's own operands";
  EXPECT_EQ(seed("good_4_new_1.json"), "1004") << "the second half verifies others";
  EXPECT_EQ(seed("good_4_base_2.json"), "1004") << "the builds of a block have the same";
  EXPECT_EQ(seed("good_6_new_2.json"), "1006");

  const std::string before = results::read_whole_file(db_);
  const support::ChildResult again = gate(files);
  EXPECT_EQ(again.exit_status, 1);
  EXPECT_EQ(again.out, regressed.out) << "the second time prints the same, without running anything again";
  EXPECT_EQ(results::read_whole_file(db_), before);

  const support::ChildResult next = gate(measure(10, slow), confirming(slow));
  EXPECT_EQ(next.exit_status, 1);
  EXPECT_THAT(next.out, AllOf(HasSubstr("2026-01-11 (night9)"),
                              HasSubstr("good on 2026-01-10\n    (night8), bad from 2026-01-11 (night9)")));

  const support::ChildResult accepted = gate(measure(11, slow), {"--accept", "2\\.7B"});
  EXPECT_EQ(accepted.exit_status, 0);
  EXPECT_EQ(gate(measure(12, slow)).exit_status, 0);
  EXPECT_EQ(gate(measure(13, slow)).exit_status, 0);
  EXPECT_THAT(gate(measure(14)).out, AllOf(HasSubstr("\nIMPROVED "), HasSubstr("\n  case: Model/size:2.7B")));
}

TEST_F(TbenchGate, ASpikeIsRetried) {
  quiet_nights(9);
  const support::ChildResult result = gate(measure(9, {{"FAKE_SLOW", "Model"}}), confirming({}));
  EXPECT_EQ(result.exit_status, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("PASSED: 8 RETRIED"));
}

TEST_F(TbenchGate, AMissingCaseIsNamedUntilItIsRetiredOrRenamed) {
  quiet_nights(3);
  const std::string large = support::model_id("forward", "sdpa", "large").name();
  const auto without = [&](int night) { return measure(night, {{"FAKE_WITHOUT", "size:large.*forward"}}); };
  for (int night = 3; night < 5; ++night) {
    const support::ChildResult missing = gate(without(night));
    EXPECT_EQ(missing.exit_status, 1);
    EXPECT_THAT(missing.out, AllOf(HasSubstr("FAILED: 1 of 8 expected cases MISSING, 7 SAME"), HasSubstr(large),
                                   HasSubstr("expected since 2026-01-02, missing since 2026-01-05")));
  }
  const support::ChildResult partial = gate(without(5), {"--partial"});
  EXPECT_EQ(partial.exit_status, 0) << partial.err;
  EXPECT_THAT(partial.out, HasSubstr("PASSED: 7 SAME. Not kept, not a baseline."));
  const Arguments files = without(6);
  const support::ChildResult unknown = gate(files, {"--retire", "size:huge"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--retire: none of 8 expected cases matches 'size:huge'"));
  EXPECT_EQ(gate(files, {"--renamed", large}).exit_status, 2);
  EXPECT_THAT(gate(files, {"--renamed", large + "=Model/size:huge"}).err, HasSubstr("is not in the run"));
  const std::string small = support::model_id("forward", "sdpa", "small").name();
  EXPECT_THAT(gate(files, {"--renamed", large + "=" + small, "--renamed", "x=" + small}).err,
              HasSubstr("is not unique"));
  EXPECT_THAT(gate(files, {"--renamed", large + "=" + small}).err, HasSubstr("are both in the run of"));
  EXPECT_THAT(gate(files, {"--renamed", small + "=" + small}).err, HasSubstr("is still in the run"));
  const support::ChildResult retired = gate(files, {"--retire", "size:large.*forward"});
  EXPECT_EQ(retired.exit_status, 0) << retired.err << retired.out;
  EXPECT_EQ(gate(without(7)).exit_status, 0);
}

TEST_F(TbenchGate, ARunThatIsNotWholeExitsWithSeven) {
  const support::ChildResult first = gate(measure(0));
  EXPECT_EQ(first.exit_status, 0);
  EXPECT_THAT(first.err, HasSubstr("note: there was no history '" + db_ + "'"));
  EXPECT_EQ(gate(measure(1)).err, "");
  const support::ChildResult crashed = gate(measure(2, {{"FAKE_FAIL", "Ceiling"}}), {"--json"});
  EXPECT_EQ(crashed.exit_status, 7);
  const results::Json report = results::Json::parse(crashed.out);
  EXPECT_EQ(report.at("outcome"), "FAILED");
  EXPECT_EQ(report.at("outcomes").at("INCOMPLETE"), 1);
  EXPECT_EQ(report.at("night").at("findings").at(0).at("subject"), "ceilings");
  EXPECT_EQ(gate(measure(-1)).exit_status, 7) << "dated before the last run";
  Arguments two = measure(3);
  two.resize(2);
  EXPECT_EQ(gate(two).exit_status, 7);
}

TEST_F(TbenchGate, OutputsForOthers) {
  quiet_nights(9);
  const Variables slow{{"FAKE_SLOW", "small/.*forward"}, {"FAKE_FACTOR", "1.2"}};
  const Arguments files = measure(9, slow);
  static_cast<void>(gate(files, confirming(slow)));
  const support::ChildResult json = gate(files, {"--json", "--junit", folder_.file("junit.xml")});
  EXPECT_EQ(json.exit_status, 1);
  const results::Json message = results::Json::parse(json.out);
  EXPECT_EQ(message.at("outcome"), "FAILED");
  EXPECT_EQ(message.at("exit_status"), 1);
  EXPECT_EQ(message.at("is_good"), false);
  EXPECT_EQ(message.at("text"), "FAILED: 1 REGRESSED, 7 SAME. Not kept.");
  EXPECT_EQ(message.at("night").at("cases").size(), 8U);
  EXPECT_THAT(gate(files, {"--markdown"}).out, AllOf(StartsWith("**FAILED: 1 REGRESSED"), HasSubstr("| REGRESSED |")));
  EXPECT_THAT(results::read_whole_file(folder_.file("junit.xml")),
              AllOf(HasSubstr("tests=\"14\" failures=\"1\""), HasSubstr("<failure message=\"REGRESSED: +")));
}

TEST_F(TbenchGate, FailuresMemoryAndDriver) {
  quiet_nights(9);
  const Variables failing{{"FAKE_FAIL", "medium/.*forward"}};
  EXPECT_THAT(gate(measure(9, failing), confirming(failing)).out, HasSubstr("incorrect: planted"));
  const Variables bytes{{"FAKE_BYTES", "50000000"}};
  const support::ChildResult memory = gate(measure(10, bytes), confirming(bytes));
  EXPECT_EQ(memory.exit_status, 1);
  EXPECT_THAT(memory.out, AllOf(HasSubstr("8 REGRESSED"), HasSubstr("memory +47.7 MiB")));
  const support::ChildResult driver = gate(measure(11, {{"FAKE_DRIVER", "590.2"}, {"FAKE_SLOW", "Model"}}));
  EXPECT_EQ(driver.exit_status, 0);
  EXPECT_THAT(driver.out,
              AllOf(HasSubstr("A new epoch"), HasSubstr("driver 590.2"), HasSubstr("8 NEW"), HasSubstr("+5")));
}

TEST_F(TbenchGate, DiffLearnsTheSpreadsFromTheHistory) {
  quiet_nights(9);
  const Arguments base = measure(20);
  const Arguments next = measure(21, {{"FAKE_SLOW", "Model"}});
  const auto smallest = [&](const Arguments& flags) {
    Arguments all{"diff", "--json", "--tau=0.1", base[0], base[1], base[2], "--to", next[0], next[1], next[2]};
    all.insert(all.end(), flags.begin(), flags.end());
    const support::ChildResult result = tbench(all);
    EXPECT_EQ(result.exit_status, 1) << result.err;
    double sum = 0;
    const results::Json json = results::Json::parse(result.out);
    for (const results::Json& c : json.at("cases")) sum += c.at("smallest_detectable_change").get<double>();
    return sum;
  };
  // Three processes per side have four degrees of freedom. Ten more make the smallest detectable change much smaller.
  EXPECT_LT(smallest({"--db", db_}), 0.7 * smallest({}));
  EXPECT_EQ(tbench({"diff", base[0], next[0], "--db", folder_.file("none.db")}).exit_status, 2);
}

TEST_F(TbenchGate, TheNullControl) {
  quiet_nights(9);
  const Variables slow{{"FAKE_SLOW", "small"}};
  const Arguments files = measure(9, slow);
  const Arguments same = measure(50);
  const Arguments other = measure(60, {{"FAKE_SLOW", "Model"}});
  Arguments flags = confirming(slow);
  const auto with = [&](const Arguments& a, const Arguments& b) {
    Arguments all = flags;
    all.emplace_back("--again");
    all.emplace_back("--null-a");
    all.insert(all.end(), a.begin(), a.end());
    all.emplace_back("--null-b");
    all.insert(all.end(), b.begin(), b.end());
    return all;
  };
  EXPECT_EQ(gate(files, with(same, measure(70))).exit_status, 1);
  const support::ChildResult failed = gate(files, with(same, other));
  EXPECT_EQ(failed.exit_status, 5);
  EXPECT_THAT(failed.out, HasSubstr("NULL_CONTROL_FAILED"));
  results::write_result_file(folder_.file("null.json"), support::golden_file());
  results::write_result_file(folder_.file("copy.json.gz"), support::golden_file());
  const support::ChildResult copied = gate(files, with({folder_.file("null.json")}, {folder_.file("copy.json.gz")}));
  EXPECT_EQ(copied.exit_status, 2);
  EXPECT_THAT(copied.err, HasSubstr("hold the same samples of"));
}

TEST_F(TbenchGate, BackfillAndSeries) {
  const std::string results = folder_.file("results");
  for (int night = 0; night < 30; ++night) {
    const Variables slow = night < 15 ? Variables{} : Variables{{"FAKE_SLOW", "2\\.7B/.*forward"}};
    const std::string folder = results + "/night" + std::to_string(night);
    std::filesystem::create_directories(folder);
    for (const std::string& file : measure(night, slow)) {
      std::filesystem::rename(file, folder + "/" + std::filesystem::path{file}.filename().string());
    }
  }
  const support::ChildResult imported = tbench({"history", "--db", db_, "--import", results});
  EXPECT_EQ(imported.exit_status, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("30 runs added"));
  EXPECT_THAT(tbench({"history", "--db", db_, "--import", results}).out, HasSubstr("0 runs added"));

  const support::ChildResult one = tbench({"history", "--db", db_, "2\\.7B/.*forward"});
  EXPECT_EQ(one.exit_status, 0);
  EXPECT_THAT(one.out, AllOf(HasSubstr("▲ level +"), HasSubstr("●"), HasSubstr("2026-01-17  night15")));
  const support::ChildResult all = tbench({"history", "--db", db_, "Model"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("▁"), HasSubstr("2026-01-17 +")));
  const results::Json json =
      results::Json::parse(tbench({"history", "--db", db_, "--json", "--nights", "20", "2\\.7B"}).out);
  EXPECT_EQ(json.at("series").size(), 2U);
  EXPECT_EQ(json.at("series").at(0).at("points").size(), 20U);

  const std::string page = folder_.file("history.html");
  const support::ChildResult written = tbench({"history", "--db", db_, "2\\.7B", "-o", page});
  EXPECT_EQ(written.exit_status, 0) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_THAT(results::read_whole_file(page), StartsWith("<!doctype html>"));

  // Tonight's run is compared with the imported runs.
  EXPECT_THAT(gate(measure(30)).out, AllOf(HasSubstr("against  30 valid runs"), HasSubstr("\nPASSED: ")));
}

void expect_usage_error(const support::ChildResult& result, const testing::Matcher<std::string>& message,
                        int status = 2) {
  EXPECT_EQ(result.exit_status, status);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

TEST_F(TbenchGate, WrongCommandLines) {
  const Arguments files = measure(0);
  expect_usage_error(gate({}), HasSubstr("RUN"));
  expect_usage_error(gate(files, {"--tau", "0"}), HasSubstr("--tau: 0"));
  expect_usage_error(gate(files, {"--wait", "-1"}), HasSubstr("--wait: -1"));
  expect_usage_error(gate(files, {"--most", "0"}), HasSubstr("--most: '0' is not a whole number"));
  expect_usage_error(gate(files, {"--markdown", "--json"}), HasSubstr("exclude each other"));
  expect_usage_error(gate(files, {"--null-a", files[0]}), HasSubstr("belong together"));
  expect_usage_error(gate(files, {"--good", "x"}), HasSubstr("need --new"));
  expect_usage_error(gate(files, {"--new", "x"}), HasSubstr("needs --good"));
  expect_usage_error(gate(files, {"--accept", "("}), HasSubstr("--accept: '(' is not an extended regular expression"));
  expect_usage_error(gate(files, {"--accept", "none"}), HasSubstr("--accept: none of 9 cases matches 'none'"));
  expect_usage_error(gate({files[0], files[0]}), HasSubstr("the same results"));
  EXPECT_FALSE(std::filesystem::exists(db_)) << "nothing was changed";
  expect_usage_error(tbench({"history", "--db", db_, "x"}), HasSubstr("no such file"));
  expect_usage_error(tbench({"history", "--db", db_, "--nights", "0"}),
                     HasSubstr("--nights: '0' is not a whole number"));
  expect_usage_error(tbench({"history", "--db", db_, "--json", "-o", "x.html"}), HasSubstr("exclude each other"));
}

TEST_F(TbenchGate, FilesThatAreNotOfOneRun) {
  Arguments files = measure(0);
  files.push_back(measure(1, {{"FAKE_DRIVER", "590.2"}})[0]);
  expect_usage_error(gate(files), HasSubstr("not comparable: "), 3);
  EXPECT_FALSE(std::filesystem::exists(db_));
}

TEST_F(TbenchGate, BadDatabasesGiveOneLineAndStayAsTheyAre) {
  const Arguments files = measure(0);
  support::write_text(db_, std::string(5000, 'x'));
  expect_usage_error(gate(files), AllOf(HasSubstr(db_), HasSubstr("not a SQLite database")));
  expect_usage_error(tbench({"history", "--db", db_, "x"}), HasSubstr("not a SQLite database"));
  expect_usage_error(tbench({"history", "--db", db_, "-o", db_}), HasSubstr("is one of the inputs"));
  EXPECT_EQ(results::read_whole_file(db_), std::string(5000, 'x'));
  std::filesystem::remove(db_);
  ASSERT_EQ(gate(files).exit_status, 0);
  expect_usage_error(tbench({"history", "--db", db_, "none"}), HasSubstr("no case of the history matches 'none'"));
  expect_usage_error(tbench({"history", "--db", db_, "("}), HasSubstr("is not an extended regular expression"));
  expect_usage_error(tbench({"history", "--db", db_, "-o", folder_.file("none/x.html")}),
                     HasSubstr("a folder that exists"));
  expect_usage_error(gate({files[0]}), HasSubstr("in the history already, with other files"));
}

TEST_F(TbenchGate, ACommandThatCannotRunStopsTheGateAndNotTheHistory) {
  quiet_nights(9);
  const Arguments files = measure(9, {{"FAKE_SLOW", "small"}});
  const support::ChildResult result = gate(files, {"--good", "/no/such/program", "--new", "/no/such/program"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("'/no/such/program' ended with status 127 and wrote no results"));
  // The run was published before it was gated, so it is in the history. The next gate evaluates it.
  EXPECT_THAT(tbench({"history", "--db", db_, "small/.*forward"}).out, HasSubstr("night9"));
  EXPECT_EQ(gate(files, confirming({{"FAKE_SLOW", "small"}})).exit_status, 1);
}

}  // namespace
}  // namespace tbench::tool
