#include "compare/input/plain_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tbench::compare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(PlainContext, HasThePlainValues) {
  const PlainContext context = plain_context(results::Json::parse(
      R"({"date": "2026-03-01T10:00:00+00:00", "num_cpus": 8, "cpu_scaling_enabled": true, "load_avg": [1.5],
          "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}, 7, {"level": 3}],
          "json_schema_version": 1, "library_build_type": "debug", "object": {}, "nothing": null})"));
  EXPECT_THAT(context, ElementsAre(Pair("caches", "L1 Data 32768 B by 2, L3   B"), Pair("cpu_scaling_enabled", "on"),
                                   Pair("date", "2026-03-01T10:00:00+00:00"), Pair("library_build_type", "debug"),
                                   Pair("num_cpus", "8")));
  EXPECT_THAT(plain_context(results::Json::object()), IsEmpty());
}

TEST(PlainContext, IsBounded) {
  results::Json context{{"executable", std::string(1'000, 'x')}};
  for (int i = 0; i < 1'000; ++i) context["key" + std::to_string(i)] = i;
  const PlainContext facts = plain_context(context);
  EXPECT_EQ(facts.size(), 64U);
  EXPECT_EQ(facts.at("executable").size(), 200U);
  EXPECT_EQ(program_of(facts), "") << "it was cut";
}

TEST(PlainContext, NamesMachineAndProgram) {
  EXPECT_EQ(machine_of({{"num_cpus", "8"}, {"host_name", "node"}}), "8 CPUs (node)");
  EXPECT_EQ(machine_of({{"num_cpus", "1"}}), "1 CPU");
  EXPECT_EQ(machine_of({{"host_name", "node"}}), "node");
  EXPECT_EQ(machine_of({}), "");
  EXPECT_EQ(program_of({{"executable", "./my bench"}}), "./my bench");
  EXPECT_EQ(program_of({{"executable", "./a\nrm"}}), "");
  EXPECT_EQ(program_of({}), "");
}

}  // namespace
}  // namespace tbench::compare
