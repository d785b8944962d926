// Situations of `tbench diff`: two sides with three processes per side, and the cases of fake_bench.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "situation.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using Records = std::vector<Record>;

const CaseId kStep = support::model_id("train_step", "sdpa");
const CaseId kBig = support::model_id("train_step", "sdpa", "2.7B");
const std::string kStepName = kStep.name();
const std::string kBigFilter = R"('^Model/size:2\.7B/ctx:512/batch:4/pass:train_step/precision:bf16/impl:sdpa$')";

/// Returns the record of a case in process 0, 1 or 2. The processes differ by 0.1 %.
Record timed(const CaseId& id, double milliseconds, int process, double clock_hz = 1.98e9) {
  Record record = support::timed_record(id, Seconds{milliseconds * 1e-3 * (1 + 0.001 * (process - 1))});
  record.device.emplace().sm_clock_p50 = Hertz{clock_hz};
  return record;
}

Record with_trace(Record record, double device_ms) {
  StepTrace& trace = record.trace.emplace();
  trace.steps = 3;
  trace.span = record.timing->median;
  trace.device = Seconds{device_ms * 1e-3};
  trace.kernels = {{.phase = "forward",
                    .kernel_class = "gemm",
                    .name = "gemm",
                    .calls = 10,
                    .total = trace.device,
                    .min = {1e-6},
                    .max = {1e-3},
                    .standard_deviation = {}}};
  return record;
}

Record with_memory(Record record, std::int64_t requested) {
  MemoryUse& memory = record.memory.emplace();
  memory.allocated_peak = requested;
  memory.requested_peak = requested;
  return record;
}

struct SideOptions {
  int processes{3};
  int first_minute{};  // the sides alternate: base at 0, 20, 40, new at 10, 30, 50
  std::string clock_policy{"default"};
  std::string gpu{"NVIDIA H200"};
};

/// Writes NAME1.json, NAME2.json and NAME3.json with the records that `records` returns for each process.
void write_side(const Sandbox& sandbox, const std::string& name, const SideOptions& options,
                const std::function<Records(int process)>& records) {
  constexpr std::int64_t kStart = 1'767'322'800;
  for (int process = 0; process < options.processes; ++process) {
    results::ResultFile file;
    file.environment = support::gpu_environment();
    file.environment.date = format_timestamp(kStart + std::int64_t{60} * (options.first_minute + 20 * process));
    file.environment.clock_policy = options.clock_policy;
    file.environment.gpu->name = options.gpu;
    file.options = {{"suite", "standard"}, {"filter", "."}, {"seed", "1"}};
    file.records = records(process);
    results::write_result_file(sandbox.file(fmt::format("{}{}.json", name, process + 1)), file);
  }
}

constexpr int kTurns = 10;
constexpr int kAfterwards = 100;

/// Returns a function that writes both sides with one case, whose records `base` and `next` return.
std::function<void(const Sandbox&)> sides(const std::function<Record(int)>& base,
                                          const std::function<Record(int)>& next,
                                          const SideOptions& of_next = {.first_minute = kTurns}) {
  return [=](const Sandbox& sandbox) {
    write_side(sandbox, "base", {.processes = of_next.processes}, [&](int process) { return Records{base(process)}; });
    write_side(sandbox, "new", of_next, [&](int process) { return Records{next(process)}; });
  };
}

std::function<Record(int)> takes(double milliseconds, double clock_hz = 1.98e9) {
  return [=](int process) { return timed(kStep, milliseconds, process, clock_hz); };
}

std::function<Record(int)> fails(Status status, const std::string& reason) {
  return [=](int) { return support::failed_record(kBig, status, reason); };
}

void write_better_and_worse(const Sandbox& sandbox) {
  write_side(sandbox, "base", {}, [](int i) { return Records{timed(kStep, 25, i), timed(kBig, 50, i)}; });
  write_side(sandbox, "new", {.first_minute = kTurns}, [](int i) {
    return Records{timed(kStep, 20, i), timed(kBig, 60, i)};
  });
}

/// Writes five processes per side; the processes of the new side differ by 4 %.
void write_noise(const Sandbox& sandbox) {
  write_side(sandbox, "base", {}, [](int i) { return Records{timed(kStep, 25, i), timed(kBig, 50, i)}; });
  write_side(sandbox, "new", {.first_minute = kTurns}, [](int i) {
    return Records{timed(kStep, 25, i), timed(kBig, 48 + 2 * i, i)};
  });
}

/// Returns the command that measures these cases alternately. FILTER includes its leading blank, and is empty for all
/// cases.
std::string in_turns(const std::string& numbers, const std::string& filter, const std::string& any = "?") {
  return fmt::format(
      "for i in {0}; do BASE/transformer_bench --tb_suite=standard{1} --benchmark_out=base$i.json; "
      "NEW/transformer_bench --tb_suite=standard{1} --benchmark_out=new$i.json; done; tbench diff base{2}.json --to "
      "new{2}.json",
      numbers, filter, any);
}

const std::string kDiff = "tbench diff --json base?.json --to new?.json";
const std::string kAgain = in_turns("1 2 3 4 5", "");
const std::string kThrice = in_turns("1 2 3", "");
const std::string kAlone =
    "NEW/transformer_bench --tb_suite=standard --benchmark_filter=" + kBigFilter + " --tb_isolate=case";

std::vector<Situation> of_times() {
  return {
      {"DiffSame", sides(takes(25), takes(25)), kDiff, 0, "diff", "SAME", {"1 SAME", "within the threshold"}, ""},
      {"DiffSlower",
       sides(takes(25), takes(26)),
       kDiff,
       1,
       "diff",
       "REGRESSED",
       {"REGRESSED " + kStepName, "+4.00 % (95 % interval +3.7", "threshold 2 %"},
       "NEW/transformer_bench --tb_suite=standard --benchmark_filter='^" + kStepName +
           "$' --tb_profile=profile && tbench profile profile"},
      {"DiffFaster",
       sides(takes(25), takes(24)),
       kDiff,
       0,
       "diff",
       "IMPROVED",
       {"IMPROVED " + kStepName, "-4.00 %"},
       ""},
      {"DiffFasterAndSlower",
       write_better_and_worse,
       kDiff,
       1,
       "diff",
       "REGRESSED",
       {"REGRESSED " + kBig.name() + ": +20.00 %", "IMPROVED " + kStepName + ": -20.00 %"},
       "NEW/transformer_bench --tb_suite=standard --benchmark_filter=" + kBigFilter +
           " --tb_profile=profile && tbench profile profile"},
      {"DiffHost",
       sides([](int i) { return with_trace(timed(kStep, 25, i), 20); },
             [](int i) { return with_trace(timed(kStep, 30, i), 20); }),
       kDiff,
       0,
       "diff",
       "HOST",
       {"HOST " + kStepName, "+20.00 %", "the GPU's time in it +0.00 %"},
       "tbench report --limits new1.json '--filter=^" + kStepName + "$'"},
      {"DiffClock",
       sides(takes(25, 1.98e9), takes(27.5, 1.81e9)),
       kDiff,
       0,
       "diff",
       "CLOCK",
       {"CLOCK " + kStepName, "+10.00 %", "its clock cycles +0.56 %"},
       kAgain},
      {"DiffTooFew",
       sides(takes(25), takes(26), {.processes = 1, .first_minute = kTurns}),
       kDiff,
       0,
       "diff",
       "UNDECIDED",
       {"1 and 1 processes, a conclusion takes 3 per side"},
       kThrice},
      {"DiffStrict",
       sides(takes(25), takes(26), {.processes = 1, .first_minute = kTurns}),
       kDiff + " --strict",
       4,
       "diff",
       "UNDECIDED",
       {"1 and 1 processes"},
       kThrice},
      {"DiffAmbiguous",
       write_noise,
       kDiff,
       0,
       "diff",
       "UNDECIDED",
       {"UNDECIDED " + kBig.name(), "processes per side would decide", "1 SAME"},
       in_turns("$(seq -w 19)", " --benchmark_filter=" + kBigFilter, "??")},
      {"DiffOneAfterTheOther",
       sides(takes(25), takes(26), {.first_minute = kAfterwards}),
       kDiff,
       1,
       "diff",
       "REGRESSED",
       {"REGRESSED " + kStepName, "measured one after the other"},
       kAgain},
  };
}

std::vector<Situation> of_others() {
  const auto ok = [](int i) { return timed(kBig, 25, i); };
  return {
      {"DiffOutOfMemory",
       sides(ok, fails(Status::kOom, "8 GiB asked for")),
       kDiff,
       1,
       "diff",
       "ERROR",
       {"ERROR " + kBig.name() + ": ok -> oom (8 GiB asked for)"},
       kAlone},
      {"DiffIncorrect",
       sides(ok, fails(Status::kIncorrect, "logits[0] is NaN")),
       kDiff,
       1,
       "diff",
       "WRONG",
       {"ok -> incorrect (logits[0] is NaN)"},
       kAlone},
      {"DiffFailsOnBothSides",
       sides(fails(Status::kCrashed, "signal 11"), fails(Status::kCrashed, "signal 11")),
       kDiff,
       0,
       "diff",
       "NOT_JUDGED",
       {"NOT_JUDGED " + kBig.name() + ": crashed on both sides (signal 11)"},
       kAlone},
      {"DiffMoreMemory",
       sides([](int i) { return with_memory(timed(kStep, 25, i), 1 << 30); },
             [](int i) { return with_memory(timed(kStep, 25, i), 5 << 28); }),
       kDiff,
       1,
       "diff",
       "REGRESSED",
       {"REGRESSED " + kStepName, "memory +256.0 MiB"},
       "tbench report base1.json new1.json -o report.html"},
      {"DiffOtherGpu",
       sides(takes(25), takes(50), {.first_minute = kTurns, .gpu = "NVIDIA H100"}),
       kDiff,
       0,
       "diff",
       "CROSS",
       {"NVIDIA H200 against NVIDIA H100", "Model: new over base 2.0000"},
       ""},
      {"DiffOtherClocks",
       sides(takes(25), takes(25), {.first_minute = kTurns, .clock_policy = "locked"}),
       kDiff,
       3,
       "error",
       "NOT_COMPARABLE",
       {"different clock policies"},
       kAgain},
      {"DiffNothingInCommon",
       sides(takes(25), [](int i) { return timed(kBig, 50, i); }),
       kDiff,
       2,
       "error",
       "ERROR",
       {"no case in common", kStepName, kBig.name()},
       kAgain},
      {"DiffUnreadable",
       [](const Sandbox& sandbox) { support::write_text(sandbox.file("base1.json"), "{"); },
       "tbench diff --json base1.json base1.json",
       2,
       "error",
       "ERROR",
       {"'base1.json'", "cut off"},
       "tbench diff --help"},
      {"DiffUnknownFlag",
       sides(takes(25), takes(25)),
       kDiff + " --sotr=p",
       2,
       "error",
       "ERROR",
       {"'--sotr'", "did you mean '--sort=p'?"},
       "tbench diff --help"},
  };
}

}  // namespace

std::vector<Situation> diff_situations() {
  std::vector<Situation> all = of_times();
  for (Situation& situation : of_others()) all.push_back(std::move(situation));
  return all;
}

}  // namespace tbench::tool
