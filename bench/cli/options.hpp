// The command line of transformer_bench: Google Benchmark's flags and ours, checked before any work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/injected_delay.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::bench {

/// The processes that cases run in: `run` one child process for all, `case` a fresh one for each, `none` this process.
enum class Isolation { kRun, kCase, kNone };
enum class DeviceChoice { kAuto, kCuda, kCpu };
/// Whether the Ceiling cases run that the selected cases are measured against: `auto` on a GPU, except in the smoke
/// suite.
enum class CeilingChoice { kAuto, kOn, kOff };
enum class ColorChoice { kAuto, kAlways, kNever };

/// The task of a child process: to run cases, to load plug-ins and describe them, or to describe the device.
enum class WorkerTask { kCases, kPlugins, kDevice };

struct Options {
  // Options that decide what is measured
  std::string filter{"."};
  std::optional<Suite> suite;
  std::string study;  // its name; empty: a suite's cases
  std::vector<AxisOverride> axes;
  std::vector<ModelSize> sizes;
  std::optional<Shard> shard;  // absent: all cases that are selected
  std::string durations;       // path of a table; "off": none; empty: the built-in one
  bool list_only{};
  std::string explain;  // the device of --tb_explain; empty: run
  DeviceChoice device{};
  std::uint64_t seed{1};
  std::optional<InjectedDelay> plant;
  // How
  std::optional<Seconds> min_time;
  std::optional<Seconds> min_warm_up_time;
  std::int64_t repetitions{1};
  std::int64_t processes{1};                // fresh ones that measure every case once
  std::optional<std::uint64_t> order_seed;  // of the cases' order in them; absent: `seed`
  std::optional<std::int64_t> fixed_warm_up;
  std::optional<std::int64_t> fixed_samples;
  std::optional<bool> verify_again;  // after sampling, on other data; absent: yes, in the smoke suite one case a family
  std::optional<bool> trace;         // a few steps, after sampling; unset: with a GPU
  std::string profile;               // folder for the whole traces; empty: none
  std::optional<L2State> l2;         // what kernels meet; absent: cold where there is a GPU
  CeilingChoice ceilings{};
  Isolation isolation{};
  Seconds timeout{120.0};
  std::string packages;              // folder of compiled graphs; empty: none
  std::vector<std::string> plugins;  // paths of shared libraries and packages, FILE.py:FUNCTION
  bool require_exclusive{};
  bool skip_oversize{};
  bool try_oom{};  // also what is known not to fit
  std::optional<double> memory_limit_gib;
  std::string clock_policy{"default"};
  bool anonymous{};  // results do not say which GPU of its kind it was
  // Output
  std::string out;
  std::string page;  // path of an HTML page of the results; empty: none
  bool resume{};
  std::optional<Seconds> stop_after;  // since the program began
  bool json_on_stdout{};
  ColorChoice color{};
  std::vector<std::pair<std::string, std::string>> context;
  // Options of a child process: the descriptors from which it reads requests and to which it writes results
  std::optional<std::pair<int, int>> worker;
  WorkerTask worker_task{};
  std::string described_plugins;  // what the parent has learned of `plugins`: see plugins.hpp
  // Options of one of several ranks: from the environment, not from the command line
  std::optional<ranks::Launch> launch;
};

struct ParsedCommandLine {
  Options options;
  std::optional<std::string> help;  // the text to print instead of running
};

/// @throws  UsageError  naming the flag, its value and what would be right
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace tbench::bench
