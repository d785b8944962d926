#include "tbench/profile/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/sample_results.hpp"
#include "synthetic_steps.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/results/durable_file.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string text_of(const Trace& trace, const TraceFacts& facts = {}) {
  return results::unpack(pack_trace(trace, facts));
}
json json_of(const Trace& trace, const TraceFacts& facts = {}) { return json::parse(text_of(trace, facts)); }

/// Writes the trace and reads it again.
TraceFile again(const Trace& trace, const TraceFacts& facts = {}) {
  const support::TemporaryFolder folder;
  write_trace_file(folder.file(kTraceFileName), trace, facts);
  return read_trace_file(folder.path());
}

std::string error_of(const std::string& content, const std::string& name = "a.json") {
  const support::TemporaryFolder folder;
  support::write_text(folder.file(name), content);
  try {
    static_cast<void>(read_trace_file(folder.file(name)));
  } catch (const UsageError& error) {
    std::string message = error.what();
    EXPECT_THAT(message, HasSubstr(folder.file(name)));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "no error";
}

/// Returns a trace with everything that a tracer can see: several processes, devices, streams and threads, and events
/// that overlap partially.
Trace random_trace(unsigned seed) {
  std::mt19937 random{seed};
  const auto below = [&](unsigned limit) { return static_cast<std::uint32_t>(random() % limit); };
  Trace trace;
  trace.names = {"a", "void k<int>(float*)", "\"quotes\" \\ and {braces}", "µs 時間 \U0001F600", "x\ty\nz", ""};
  for (unsigned i = 0; i < 4; ++i) {
    trace.threads.push_back({.process = static_cast<std::uint16_t>(i % 2), .id = 0xFFFFFFFFFFFFFFF0 + i});
  }
  std::int64_t at_ns = -5'000;
  for (std::uint32_t i = 0; i < 200; ++i) {
    at_ns += below(40);
    const std::int64_t end_ns = at_ns + below(60);
    const Index name = below(6), thread = below(4);
    trace.ranges.push_back(
        {.start_ns = at_ns, .end_ns = end_ns, .name = name, .thread = thread, .is_of_process = i % 3 == 0});
    trace.calls.push_back(
        {.start_ns = at_ns + 3, .end_ns = end_ns + 3, .name = name, .thread = below(4), .correlation = below(100)});
    trace.operations.push_back({.start_ns = at_ns + 5,
                                .end_ns = end_ns + 25,
                                .bytes = below(3) == 0 ? std::int64_t{1} << 40 : 0,
                                .graph_node = below(3) == 0 ? UINT64_MAX - i : 0,
                                .name = name,
                                .correlation = below(100),
                                .stream = below(3),
                                .process = static_cast<std::uint16_t>(below(2)),
                                .device = static_cast<std::uint16_t>(below(2)),
                                .kind = static_cast<OperationKind>(below(4))});
  }
  const auto before = [](const auto& a, const auto& b) {
    return std::pair{a.start_ns, -a.end_ns} < std::pair{b.start_ns, -b.end_ns};
  };
  std::ranges::stable_sort(trace.ranges, before);
  std::ranges::stable_sort(trace.calls, before);
  return trace;
}

TEST(TraceFile, IsReadAsItWasWritten) {
  const TraceFacts facts{.name = "Model/size:small", .steps = 3, .gpus = {"NVIDIA H200", "\"other\""}};
  EXPECT_EQ(again(one_step(), facts).trace, one_step());
  EXPECT_EQ(again(one_step(), facts).facts, facts);
  EXPECT_EQ(again(Trace{}).trace, Trace{});
  EXPECT_EQ(again(Trace{}).facts, TraceFacts{});
  const Trace operation = TraceWriter{}.kernel(5, 9, 1).take();
  EXPECT_EQ(again(operation).trace, operation);
  const Trace step = SyntheticSteps::make(1);
  EXPECT_TRUE(again(step).trace == step);
  for (unsigned seed = 0; seed < 8; ++seed) {
    EXPECT_TRUE(again(random_trace(seed)).trace == random_trace(seed)) << seed;
  }
}

TEST(TraceFile, WhoseEventsWereInAnyOrderGivesTheSameTables) {
  Trace trace = one_step();
  std::ranges::reverse(trace.calls);
  std::ranges::reverse(trace.ranges);
  const Trace read = again(trace).trace;
  EXPECT_EQ(read, one_step());
  const auto page = [](const Trace& of) {
    return profile_page(analyse(of, KernelRules::built_in()), {}, PageFormat::kText, {}, {}, std::nullopt);
  };
  EXPECT_EQ(page(read), page(trace));
}

TEST(TraceFile, ReplacesWhatIsNotUtf8) {
  const Trace trace = TraceWriter{}.kernel(5, 9, 1, "a\xff").take();
  EXPECT_EQ(again(trace).trace.names.front(), "a\xEF\xBF\xBD");
}

TEST(TraceFile, IsRefusedWhereADoubleCannotHoldItsTimes) {
  const Trace trace =
      TraceWriter{}.kernel(0, 9, 1).kernel((std::int64_t{1} << 50) + 1, std::int64_t{1} << 60, 2).take();
  EXPECT_THROW(static_cast<void>(pack_trace(trace)), UsageError);
}

TEST(TraceFile, OfTwoStepsOfTheLargestModelsIsSmall) {
  const Trace trace = SyntheticSteps::make(2);
  ASSERT_EQ(trace.operations.size(), 20'000U);
  const std::size_t bytes = pack_trace(trace).size();
  RecordProperty("bytes", static_cast<int>(bytes));
  EXPECT_LT(bytes, 2'000'000U);
}

TEST(TraceFile, HasWhatViewersShow) {
  const json file = json_of(one_step(), {.gpus = {"NVIDIA H200"}});
  EXPECT_EQ(file.at("displayTimeUnit"), "ns");
  std::map<std::string, json> metadata;
  std::map<std::string, json> events;
  for (const json& event : file.at("traceEvents")) {
    if (event.at("ph") == "M" && event.at("name") != "process_sort_index" && event.at("name") != "thread_sort_index") {
      metadata[event.at("args").at("name")] = event;
    }
    if (event.at("ph") == "X") events[event.at("name")] = event;
  }
  EXPECT_EQ(metadata.at("host").at("name"), "process_name");
  const int gpu = metadata.at("GPU 0 (NVIDIA H200)").at("pid");
  EXPECT_EQ(metadata.at("stream 7").at("pid"), gpu);
  EXPECT_EQ(metadata.at("stream 8").at("pid"), gpu);
  EXPECT_EQ(metadata.at("thread 100").at("pid"), metadata.at("host").at("pid"));

  const json& softmax = events.at("softmax_warp_forward");
  EXPECT_EQ(softmax.at("cat"), "kernel");
  EXPECT_EQ(softmax.at("args").at("kernel"), "void softmax_warp_forward<float, float, float, 9, false, false>(float*)");
  EXPECT_EQ(softmax.at("args").at("correlation"), 2);
  EXPECT_EQ(softmax.at("ts"), 0.05);  // 50 ns after FORWARD begins
  EXPECT_EQ(softmax.at("dur"), 0.01);
  EXPECT_EQ(softmax.at("tid"), metadata.at("stream 7").at("tid"));
  EXPECT_EQ(events.at("Memcpy HtoD").at("args").at("bytes"), 4000);
  EXPECT_EQ(events.at("attention").at("cat"), "range");
  EXPECT_EQ(events.at("cudaMemcpyAsync").at("tid"), metadata.at("thread 100").at("tid"));
  EXPECT_EQ(events.at("cudaMemcpyAsync").at("flow_out"), true);
  EXPECT_EQ(events.at("cudaMemcpyAsync").at("bind_id"), events.at("Memcpy HtoD").at("bind_id"));
}

/// Returns the interval of an event in nanoseconds. The event has microseconds with three decimals.
std::pair<std::int64_t, std::int64_t> interval_of(const json& event) {
  const auto begin = std::llround(event.at("ts").get<double>() * 1000);
  return {begin, begin + std::llround(event.at("dur").get<double>() * 1000)};
}

/// Checks what a viewer needs. Every track has a name before its first event. Events of a track are ordered and nested.
/// Events of a stream do not overlap. Every flow has one begin and at least one end, and no end comes before the begin.
void expect_sound(const json& file) {
  std::set<std::pair<int, int>> named;
  std::set<std::pair<int, int>> streams;
  std::set<int> processes;
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> open;
  std::map<std::uint64_t, std::int64_t> flow_begins;
  std::map<std::uint64_t, std::vector<std::int64_t>> flow_ends;
  for (const json& event : file.at("traceEvents")) {
    const std::pair<int, int> track{event.at("pid"), event.at("tid")};
    if (event.at("name") == "process_name") processes.insert(track.first);
    if (event.at("name") == "thread_name") {
      EXPECT_TRUE(processes.contains(track.first)) << event;
      EXPECT_TRUE(named.insert(track).second) << event;
      if (event.at("args").contains("stream")) streams.insert(track);
    }
    if (event.at("ph") != "X") continue;
    EXPECT_TRUE(named.contains(track)) << event;
    const auto [begin, end] = interval_of(event);
    auto& outer = open[track];
    if (!outer.empty()) {
      EXPECT_LE(outer.back().first, begin) << event;
    }
    while (!outer.empty() && outer.back().second <= begin) outer.pop_back();
    if (!outer.empty()) {
      EXPECT_GE(outer.back().second, end) << event;
    }
    if (streams.contains(track)) {
      EXPECT_TRUE(outer.empty()) << event;
    }
    outer.emplace_back(begin, end);
    if (event.contains("flow_out")) {
      EXPECT_TRUE(flow_begins.emplace(event.at("bind_id"), begin).second) << event;
    }
    if (event.contains("flow_in")) flow_ends[event.at("bind_id")].push_back(begin);
  }
  EXPECT_EQ(flow_begins.size(), flow_ends.size());
  for (const auto& [id, ends] : flow_ends) {
    ASSERT_TRUE(flow_begins.contains(id)) << id;
    for (const std::int64_t end : ends) EXPECT_LE(flow_begins.at(id), end) << id;
  }
}

TEST(TraceFile, HasTracksThatNestAndFlowsThatEnd) {
  expect_sound(json_of(one_step()));
  expect_sound(json_of(Trace{}));
  expect_sound(json_of(SyntheticSteps::make(1)));
  for (unsigned seed = 0; seed < 8; ++seed) expect_sound(json_of(random_trace(seed)));
  // A launch that seems to begin after its kernel has no flow, nor has a kernel that no call launched.
  const std::string without_flow = text_of(TraceWriter{}.call(9, 12, 1).kernel(8, 11, 1).kernel(12, 13, 2).take());
  EXPECT_THAT(without_flow, testing::Not(HasSubstr("flow")));
}

TEST(TraceFile, ThatIsDamagedIsRefused) {
  const std::string packed = pack_trace(one_step());
  const std::string text = results::unpack(packed);
  EXPECT_THAT(error_of(packed.substr(0, packed.size() / 2), "a.json.gz"), HasSubstr("cut off after"));
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), AllOf(HasSubstr("cut off after"), HasSubstr("make it again")));
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("hello"), HasSubstr("not JSON, at byte 1"));
  EXPECT_THAT(error_of(text + "}"), HasSubstr("not JSON, at byte"));
  const support::TemporaryFolder folder;
  try {
    static_cast<void>(read_trace_file(folder.path()));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("is a folder without trace.json.gz"), HasSubstr("tbench nsys")));
  }
  EXPECT_THROW(static_cast<void>(read_trace_file(folder.file("none"))), UsageError);
}

TEST(TraceFile, OfAnotherProgramIsRefused) {
  EXPECT_THAT(error_of(R"({"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]})"),
              HasSubstr("a trace of another program: there is no 'tbench' before 'traceEvents'"));
  EXPECT_THAT(error_of(R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}])"),
              HasSubstr("an array, maybe a trace of another program"));
  EXPECT_THAT(error_of(R"({"context":{},"benchmarks":[]})"), HasSubstr("'traceEvents' is missing"));
  EXPECT_THAT(error_of("3"), HasSubstr("'traceEvents' is missing"));
  json newer = json_of(one_step());
  newer["tbench"]["schema_version"] = 2;
  EXPECT_THAT(error_of(newer.dump()), HasSubstr("tbench.schema_version: is 2; this program reads 1"));
}

/// Returns the error for the trace with an additional event: a range on thread 0's track in which `field` is `value`.
std::string error_of_event(const std::string& field, const json& value) {
  json file = json_of(one_step());
  json& events = file.at("traceEvents");
  const auto range = std::ranges::find_if(events, [](const json& e) { return e.value("cat", "") == "range"; });
  json event = *range;
  if (value.is_null()) {
    event.erase(field);
  } else {
    event[field] = value;
  }
  events.push_back(event);
  return error_of(file.dump());
}

TEST(TraceFile, WithAWrongEventIsRefused) {
  EXPECT_THAT(error_of_event("dur", -2.5), HasSubstr("].dur: -2.5 us: it ends before it begins; give"));
  EXPECT_THAT(error_of_event("ts", -1), HasSubstr("].ts: -1 us: it begins before the trace"));
  EXPECT_THAT(error_of_event("ts", 1e300), HasSubstr("].ts: expected at most"));
  EXPECT_THAT(error_of_event("ts", "1"), HasSubstr("].ts: expected microseconds, found \"1\""));
  EXPECT_THAT(error_of_event("ts", {}), HasSubstr("].ts: is missing"));
  EXPECT_THAT(error_of_event("dur", {}), HasSubstr("].dur: is missing"));
  EXPECT_THAT(error_of_event("name", "unknown"), HasSubstr("].name: is none of tbench.names"));
  EXPECT_THAT(error_of_event("cat", "gpu"), HasSubstr("].cat: 'gpu' is neither range"));
  EXPECT_THAT(error_of_event("cat", "api"), HasSubstr("].args: is missing"));
  EXPECT_THAT(error_of_event("cat", "memcpy"), HasSubstr("].tid: is not a stream of a GPU"));
  EXPECT_THAT(error_of_event("tid", 99), HasSubstr("].tid: no thread_name of thread 99 of process 1 before it"));
  EXPECT_THAT(error_of_event("pid", -1), HasSubstr("].pid: expected a whole number from 0 to"));
  EXPECT_THAT(error_of_event("ph", 1), HasSubstr("].ph: expected a text, found 1"));
}

TEST(TraceFile, WithAWrongHeaderIsRefused) {
  const auto with = [](const char* key, const json& value) {
    json file = json_of(one_step());
    file.at("tbench")[key] = value;
    return error_of(file.dump());
  };
  EXPECT_THAT(with("steps", 0), HasSubstr("tbench.steps: expected a whole number from 1"));
  EXPECT_THAT(with("base_ns", UINT64_MAX), HasSubstr("tbench.base_ns: expected a whole number"));
  EXPECT_THAT(with("names", "x"), HasSubstr("tbench.names: expected an array"));
  EXPECT_THAT(with("gpus", {1}), HasSubstr("tbench.gpus: expected texts alone"));
}

TEST(TraceFile, ThatAnotherProgramHasWrittenAnewIsRead) {
  json file = json_of(one_step());
  file.at("traceEvents").push_back({{"ph", "C"}, {"name", "a counter"}, {"pid", 1}, {"ts", 1}, {"args", {{"x", 1}}}});
  file["otherData"] = {{"by", {"another", "program"}}};
  const support::TemporaryFolder folder;
  support::write_text(folder.file("a.json"), file.dump(2));
  EXPECT_EQ(read_trace_file(folder.file("a.json")).trace, one_step());
}

}  // namespace
}  // namespace tbench::profile
