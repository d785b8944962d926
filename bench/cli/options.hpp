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

/// The processes that run the cases: `run` uses one child process for all cases, `case` a new one for each case, and
/// `none` this process.
enum class Isolation { kRun, kCase, kNone };
enum class DeviceChoice { kAuto, kCuda, kCpu };
/// Whether to run the Ceiling cases with which the selected cases are compared. `auto`: on a GPU, except in the smoke
/// suite.
enum class CeilingChoice { kAuto, kOn, kOff };
enum class ColorChoice { kAuto, kAlways, kNever };

/// The task of a child process: run cases, load and describe plug-ins, or describe the device.
enum class WorkerTask { kCases, kPlugins, kDevice };

struct Options {
  // Options that decide which cases are measured
  std::string filter{"."};
  std::optional<Suite> suite;
  std::string study;  // name of the study; if empty, the cases of a suite run
  std::vector<AxisOverride> axes;
  std::vector<ModelSize> sizes;
  std::optional<Shard> shard;  // if absent, all selected cases run
  std::string durations;       // path of a table, or "off" for no table; if empty, the built-in table
  bool list_only{};
  std::string explain;  // device of --tb_explain; if empty, the cases run
  DeviceChoice device{};
  std::uint64_t seed{1};
  std::optional<InjectedDelay> plant;
  // Options that decide how they are measured
  std::optional<Seconds> min_time;
  std::optional<Seconds> min_warm_up_time;
  std::int64_t repetitions{1};
  std::int64_t processes{1};                // new processes, each of which measures every case once
  std::optional<std::uint64_t> order_seed;  // for the order of cases in several processes; if absent, `seed`
  std::optional<std::int64_t> fixed_warm_up;
  std::optional<std::int64_t> fixed_samples;
  /// Whether to verify a case again after sampling, with other data. If absent, all cases are, but in the smoke suite
  /// only one case per family.
  std::optional<bool> verify_again;
  std::optional<bool> trace;  // whether to trace a few steps after sampling; if absent, only on a GPU
  std::string profile;        // folder for complete traces; may be empty
  std::optional<L2State> l2;  // L2 state before a kernel; if absent, cold on a GPU
  CeilingChoice ceilings{};
  Isolation isolation{};
  Seconds timeout{120.0};
  std::string packages;              // folder of compiled graphs; may be empty
  std::vector<std::string> plugins;  // paths of shared libraries and packages, FILE.py:FUNCTION
  bool require_exclusive{};
  bool skip_oversize{};
  bool try_oom{};  // whether to run cases that are known not to fit
  std::optional<double> memory_limit_gib;
  std::string clock_policy{"default"};
  bool anonymous{};  // whether results omit the GPU's UUID
  // Output
  std::string out;
  std::string page;  // path of an HTML page of the results; may be empty
  bool resume{};
  std::optional<Seconds> stop_after;  // counted from the start of the program
  bool json_on_stdout{};
  ColorChoice color{};
  std::vector<std::pair<std::string, std::string>> context;
  // Options of a child process: the descriptors for reading requests and for writing results
  std::optional<std::pair<int, int>> worker;
  WorkerTask worker_task{};
  std::string described_plugins;  // the parent's descriptions of `plugins`: see plugins.hpp
  // Options of a process that is one of several ranks, from the environment instead of the command line
  std::optional<ranks::Launch> launch;
};

struct ParsedCommandLine {
  Options options;
  std::optional<std::string> help;  // the text to print instead of running
};

/// Parses and checks the command line.
/// @throws  UsageError  naming the flag, its value and a valid form
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace tbench::bench
