// Situations of `tbench report`: one results file, as the tables of a run, of a study and of its limits use it.
#include <functional>
#include <string>
#include <vector>

#include "situation.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

const CaseId kStep = support::model_id("forward", "sdpa");
const std::string kFilter = "--benchmark_filter='^" + kStep.name() + "$'";
const std::string kRun = "transformer_bench --tb_suite=standard ";

Record sharp() { return support::timed_record(kStep, Seconds{0.025}); }

Record host_bound() {
  Record record = sharp();
  record.timing->host_bound = true;
  record.device.emplace().sm_clock_p50 = Hertz{1.98e9};
  return record;
}

Record unstable() {
  Record record = sharp();
  record.status = Status::kUnstable;
  record.reason = "the interval's half-width is 7 %";
  return record;
}

/// Returns a record of 25 ms, in which the GPU works for 24.5 ms, 16 ms of them in matrix products.
Record traced() {
  Record record = sharp();
  StepTrace& trace = record.trace.emplace();
  trace.steps = 3;
  trace.span = {0.025};
  trace.device = {0.0245};
  trace.launches = 100;
  const auto kernel = [](const char* kernel_class, double seconds) {
    return TracedKernel{.phase = "forward",
                        .kernel_class = kernel_class,
                        .name = kernel_class,
                        .calls = 50,
                        .total = {seconds},
                        .min = {1e-6},
                        .max = {1e-3},
                        .standard_deviation = {}};
  };
  trace.kernels = {kernel("gemm", 0.016), kernel("elementwise", 0.008)};
  return record;
}

Record traced_and_host_bound() {
  Record record = traced();
  support::set_samples(*record.timing, {0.049, 0.0491, 0.0489});
  record.timing->enqueue = {0.047};
  record.timing->host_bound = true;
  return record;
}

Record of_another_case(Record record) {
  record.id = support::model_id("forward", "eager");
  return record;
}

std::function<void(const Sandbox&)> run_of(const std::vector<Record>& records, bool is_interrupted = false) {
  return [=](const Sandbox& sandbox) {
    results::ResultFile file;
    file.environment = support::gpu_environment();
    file.options = {{"suite", "standard"}, {"filter", "."}, {"seed", "1"}};
    file.interrupted = is_interrupted;
    file.records = records;
    results::write_result_file(sandbox.file("run.json"), file);
  };
}

const std::string kReport = "tbench report --json run.json";

std::vector<Situation> of_runs() {
  const Record failed = support::failed_record(kStep, Status::kIncorrect, "logits[0] is NaN");
  const Record oom = support::failed_record(support::model_id("forward", "eager"), Status::kOom, "8 GiB asked for");
  return {
      {"ReportOk",
       run_of({sharp()}),
       kReport,
       0,
       "report",
       "OK",
       {"every time is sharp: 1 of them"},
       "tbench report run.json -o report.html"},
      {"ReportOutOfMemoryIsAResult",
       run_of({sharp(), oom}),
       kReport,
       0,
       "report",
       "OK",
       {"1 oom, " + oom.id.name() + ": 8 GiB asked for"},
       "tbench report run.json -o report.html"},
      {"ReportFailed",
       run_of({failed, oom}),
       kReport,
       0,
       "report",
       "FAILED",
       {"1 incorrect, " + kStep.name() + ": logits[0] is NaN", "1 oom, "},
       kRun + kFilter + " --tb_isolate=case"},
      {"ReportHostBound",
       run_of({host_bound()}),
       kReport,
       0,
       "report",
       "HOST",
       {"1 case is limited by the host", kStep.name() + ": limited by the host"},
       kRun + kFilter + " --tb_trace=on --benchmark_out=traced.json && tbench report --limits traced.json"},
      {"ReportNotSharp",
       run_of({unstable()}),
       kReport,
       0,
       "report",
       "NOT_SHARP",
       {"1 case is not sharp", kStep.name() + ": the interval's half-width is 7 %"},
       kRun + kFilter + " --benchmark_min_time=2 --benchmark_out=again.json"},
      {"ReportInterrupted",
       run_of({sharp()}, true),
       kReport,
       0,
       "report",
       "INTERRUPTED",
       {"interrupted before its last case"},
       kRun + "--benchmark_out=run.json --tb_resume"},
      {"ReportEmpty", run_of({}), kReport, 0, "report", "EMPTY", {"no cases"}, ""},
      {"ReportWrongFilter",
       run_of({sharp()}),
       kReport + " --filter=none",
       2,
       "error",
       "ERROR",
       {"no case of 1 matches 'none'"},
       "tbench report --help"},
  };
}

std::vector<Situation> of_tables() {
  std::vector<Record> all_passes;
  for (const char* pass : {"forward", "forward_backward", "train_step"}) {
    all_passes.push_back(support::timed_record(support::model_id(pass, "sdpa"), Seconds{0.025}));
  }
  const std::string study =
      "tbench report --json --study=scaling --axis=Model.impl=sdpa run.json --filter=small/ctx:512/.*bf16";
  return {
      {"StudyComplete", run_of(all_passes), study, 0, "study", "COMPLETE", {"every cell is measured"}, ""},
      {"StudyIncomplete",
       run_of({sharp()}),
       study,
       0,
       "study",
       "INCOMPLETE",
       {"cells are not measured"},
       "./transformer_bench --tb_study=scaling --tb_axis=Model.impl=sdpa "
       "--benchmark_filter='/size:small/ctx:512/.*/pass:(forward_backward|train_step)/precision:bf16/' "
       "--benchmark_out=scaling_1.json"},
      {"Ratios",
       run_of({sharp(), support::timed_record(support::model_id("forward", "eager"), Seconds{0.05})}),
       kReport + " --of=impl:eager --over=impl:sdpa",
       0,
       "study",
       "COMPLETE",
       {"every cell is measured"},
       ""},
      {"Headline",
       run_of(all_passes),
       kReport + " --headline --price=H200=2",
       0,
       "study",
       "COMPLETE",
       {"every cell is measured"},
       ""},
      {"LimitsHost",
       run_of({traced_and_host_bound(), of_another_case(traced())}),
       kReport + " --limits",
       0,
       "limits",
       "HOST",
       {"1 of 2 traced cases are limited by: host", "the GPU idles 50 % of the step", "at most 2.00x as a CUDA graph"},
       kRun + kFilter + " --tb_profile=profile && tbench profile profile --table=launches"},
      {"LimitsDevice",
       run_of({traced()}),
       kReport + " --limits",
       0,
       "limits",
       "DEVICE",
       {"the GPU's own work limits every case that was traced: 1 of them", "elementwise: 33 % of the GPU's time"},
       kRun + kFilter + " --tb_profile=profile && tbench profile profile --table=top_kernels"},
      {"LimitsOfARunWithoutTraces",
       run_of({sharp()}),
       kReport + " --limits",
       2,
       "error",
       "ERROR",
       {"no case was traced"},
       kRun + kFilter + " --tb_trace=on --benchmark_out=traced.json && tbench report --limits traced.json"},
  };
}

}  // namespace

std::vector<Situation> report_situations() {
  std::vector<Situation> all = of_runs();
  for (Situation& situation : of_tables()) all.push_back(std::move(situation));
  return all;
}

}  // namespace tbench::tool
