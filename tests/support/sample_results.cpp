#include "support/sample_results.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tbench/stats/descriptive.hpp"

namespace tbench::support {

CaseId model_id(const std::string& pass, const std::string& impl, const std::string& size, std::int64_t context) {
  return CaseId{"Model",
                {{"size", size},
                 {"ctx", fmt::format("{}", context)},
                 {"batch", "4"},
                 {"pass", pass},
                 {"precision", "bf16"},
                 {"impl", impl}}};
}

void set_samples(Timing& timing, std::vector<double> samples_s) {
  const stats::Summary summary = stats::summary_of(samples_s);
  timing.samples_s = std::move(samples_s);
  std::erase_if(timing.flagged_samples, [&](std::size_t index) { return index >= timing.samples_s.size(); });
  timing.median = {summary.median};
  timing.p10 = {summary.p10};
  timing.p90 = {summary.p90};
  timing.min = {summary.min};
  timing.mean = {summary.mean};
  timing.standard_deviation.reset();
  if (summary.standard_deviation) timing.standard_deviation = Seconds{*summary.standard_deviation};
  timing.relative_iqr = summary.relative_iqr;
  timing.relative_half_width = summary.relative_half_width;
}

void scale_samples(Timing& timing, double factor) {
  std::vector<double> samples = timing.samples_s;
  for (double& sample : samples) sample *= factor;
  set_samples(timing, std::move(samples));
}

Record timed_record(CaseId id, Seconds median) {
  Timing timing;
  set_samples(timing, {median.value, median.value * 1.01, median.value * 0.99});
  timing.wall = median;
  timing.enqueue = median * 0.5;
  timing.drain = median * 0.5;
  timing.cpu = median * 0.75;
  timing.warm_up.steady = true;
  Record record;
  record.id = std::move(id);
  record.timing = timing;
  return record;
}

Record full_record() {
  Record record;
  record.id = model_id("train_step", "sdpa");
  Timing timing;
  // Numbers without a short decimal form must be kept exactly. The interval of the median reaches from the lowest to
  // the highest of nine samples. Its width is 0.46 % of the median.
  set_samples(timing, {0.0253664352, 0.02531200088560581, 0.025312, 0.0251 + 0.0002, 1.0 / 39.5, 0.0253117, 0.02531,
                       0.02525, 0.02532});
  timing.flagged_samples = {0, 4};
  timing.stop_reason = StopReason::kSpreadSettled;
  timing.warm_up = {.steps = 40, .first = Seconds{1.25}, .steady = true};
  timing.phases = {{"forward", {0.008}}, {"backward", {0.0135}}, {"optimizer", {0.0035}}};
  timing.wall = Seconds{0.02575};
  timing.enqueue = {0.012};
  timing.drain = Seconds{0.01375};
  timing.cpu = {0.0255};
  timing.host_bound = true;
  record.timing = timing;
  record.work = Work{.flop = {1.5e12}, .min_flop = Flop{1.4e12}, .tokens = 2048, .optimizer = "adamw_fused"};
  record.peak_at_clock = FlopPerSecond{9.9e14};
  record.boost_peak = datasheet_peak("NVIDIA H200", 132, Precision::kBf16);
  DeviceState device;
  device.clock_source = ClockSource::kPolled;
  device.sm_clock_p5 = Hertz{1.965e9};
  device.sm_clock_p50 = Hertz{1.98e9};
  device.sm_clock_p95 = Hertz{1.98e9};
  device.sm_clock_mean = Hertz{1.976e9};
  device.sm_clock_counted = Hertz{1.9735e9};
  device.temperature_c = 61;
  device.power = Watts{512.5};
  device.energy_per_step = Joules{12.8125};
  device.throttle_reasons = {"sw_power_cap"};
  record.device = device;
  MemoryUse memory;
  memory.allocated_peak = 3'221'225'472;
  memory.requested_peak = 3'221'000'000;
  memory.reserved_peak = 4'294'967'296;
  memory.device_used = 5'368'709'120;
  memory.split = {{"parameters", 512'000'000},
                  {"gradients", 512'000'000},
                  {"optimizer_state", 1'024'000'000},
                  {"activations", 1'173'225'472}};
  memory.phases = {{.phase = "forward",
                    .allocated_peak = 3'400'000'000,
                    .held = 3'210'987'654,
                    .held_split = {{"parameters", 512'000'000}, {"activations", 2'698'987'654}}},
                   {.phase = "backward",
                    .allocated_peak = 4'123'456'789,
                    .held = 2'560'000'000,
                    .held_split = {{"gradients", 512'000'000}, {"other", 2'048'000'000}}}};
  memory.peak_ranges = {
      {.range = "FORWARD/layer.*/attention/attention.softmax", .bytes = 301'989'888, .allocations = 12},
      {.range = "", .bytes = 4'096, .allocations = 1}};
  memory.largest = {{.range = "FORWARD/lm_head", .bytes = 81'920'000}};
  memory.unlogged = 512;
  memory.timeline = MemoryTimeline{.step = 2,
                                   .events = {1, 17, 40},
                                   .bands = {{.range = "before the step", .bytes = {4'096, 4'096, 2'048}},
                                             {.range = "FORWARD/layer.*/ffn", .bytes = {0, 8'192, 0}}},
                                   .phases = {{.name = "forward", .point = 0}, {.name = "backward", .point = 2}},
                                   .peak = 1};
  record.memory = memory;
  record.trace = StepTrace{
      .steps = 9,
      .span = {0.02550},
      .device = {0.02400},
      .host_gaps = {0.0001},
      .device_gaps = {0.00055},
      .other_gaps = {0.0001},
      .longest_gap = {0.000123},
      .launches = 1234,
      .sm_clock_counted = Hertz{1.9701e9},
      .kernels = {{.phase = "forward",
                   .kernel_class = "gemm",
                   .name = "void gemm<float, 128>(float*)",
                   .calls = 85,
                   .total = {0.0123},
                   .min = {0.0001},
                   .max = {0.0002},
                   .standard_deviation = Seconds{1.0 / 3.0 * 1e-5}},
                  {.phase = "optimizer",
                   .kernel_class = "memcpy",
                   .name = "Memcpy HtoD",
                   .calls = 1.0 / 9.0,
                   .total = {1e-6},
                   .min = {9e-6},
                   .max = {9e-6},
                   .standard_deviation = {}}},
      .ranges = {{.path = "FORWARD/layer.*",
                  .calls = 12,
                  .host = {0.0123},
                  .host_exclusive = {0.0003},
                  .gpu_span = {0.0125},
                  .gpu_sum = {0.0122},
                  .gpu_busy = {0.0121},
                  .gpu_exclusive = {0.0002},
                  .operations = 240,
                  .launches = 228,
                  .host_min = {0.0009},
                  .host_max = {0.0013},
                  .host_deviation = Seconds{1e-5},
                  .gpu_min = Seconds{0.00099},
                  .gpu_max = Seconds{0.00104},
                  .gpu_deviation = Seconds{2e-6},
                  .host_gaps = Seconds{1.0 / 3.0 * 1e-5},
                  .device_gaps = Seconds{0}},
                 {.path = "FORWARD/idle",
                  .calls = 1.0 / 9.0,
                  .host = {1e-6},
                  .host_exclusive = {1e-6},
                  .gpu_span = {},
                  .gpu_sum = {},
                  .gpu_busy = {},
                  .gpu_exclusive = {},
                  .host_min = {9e-6},
                  .host_max = {9e-6},
                  .host_deviation = {},
                  .gpu_min = {},
                  .gpu_max = {},
                  .gpu_deviation = {}}},
      .range_kernels = {{.range = 0, .kernel = 0, .calls = 84, .total = {0.0122}}},
      .phases = {{.phase = "forward",
                  .span = {0.0128},
                  .host_gaps = {0.0001},
                  .device_gaps = {0.0003},
                  .other_gaps = {},
                  .api_calls = 86,
                  .api = {0.0004},
                  .calls = {{.name = "cudaLaunchKernel", .calls = 85, .host = {0.00039}}},
                  .copies = {}},
                 {.phase = "",
                  .span = {},
                  .host_gaps = {},
                  .device_gaps = {},
                  .other_gaps = {},
                  .api_calls = 1,
                  .api = {1e-6},
                  .calls = {{.name = "cudaMemcpyAsync", .calls = 1, .host = {1e-6}}},
                  .copies = {{.name = "Memcpy HtoD", .count = 1.0 / 9.0, .bytes = 1e6 / 9, .total = {1e-6}}}}},
      .parts = {{.of = "FORWARD",
                 .name = "projections",
                 .host = {0.001},
                 .gpu_sum = {0.004},
                 .operations = 24,
                 .launches = 24}},
      .attention =
          {{.phase = "forward", .softmax = {0.003}, .scores = {0.001}, .context = {0.0011}, .other = {0.0004}}},
      .timeline = StepTimeline{.range = "FORWARD/layer.6",
                               .names = {"layer.6", "cudaLaunchKernel", "void gemm<float, 128>(float*)"},
                               .kind = {0, 1, 2},
                               .name = {0, 1, 2},
                               .depth = {0, 0, 0},
                               .start_s = {0, 1.0 / 3.0 * 1e-5, 0.0002},
                               .end_s = {0.001, 5e-6, 0.0003},
                               .left_out = 1},
      .without_launch = 2,
      .dropped = 1};
  record.verification = Verification{.passed = true,
                                     .reference = "fp32 on one row of the batch",
                                     .worst_error = 0.375,
                                     .worst_where = "logits[0, 17, 4]",
                                     .message = ""};
  record.queue_gap = Seconds{1.25e-6};
  record.counters = {{"skipped_steps", 2}};
  record.harness = {0.875};
  record.host_times = HostTimes{.build = {0.25},
                                .verification = {0.125},
                                .sampling = {3.5},
                                .memory_pass = {0.0625},
                                .trace = {0.1875},
                                .second_verification = {0.25}};
  return record;
}

Record burst_record(CaseId id, Seconds median) {
  Record record = timed_record(std::move(id), median);
  record.timing->regime = Regime::kBurst;
  record.timing->l2 = L2State::kCold;
  record.timing->launches_per_sample = 13;
  record.timing->resolution_limited = median < Seconds{10e-6};
  record.timing->wall.reset();
  record.timing->drain.reset();
  record.work = Work{.flop = {}, .tokens = 0, .bytes = 16'000'000, .ceiling = "copy"};
  record.timing->duty = 0.2375;
  record.ceiling_per_second = 4.25e12;
  record.queue_gap.reset();
  record.floor = Seconds{1.0 / 3.0 * 1.25e-5};
  record.labels = {{"algorithm", "4 of 8"}};
  return record;
}

Record failed_record(CaseId id, Status status, std::string reason) {
  Record record;
  record.id = std::move(id);
  record.status = status;
  record.reason = std::move(reason);
  record.harness = {0.25};
  return record;
}

Record numbered_record(std::int64_t i) {
  CaseId id{"Series", {{"number", fmt::format("{}", i)}}};
  if (i % 7 == 3) return failed_record(std::move(id), Status::kOom, fmt::format("out of memory in case {}", i));
  return timed_record(std::move(id), Seconds{0.001 * static_cast<double>(i + 1)});
}

Environment cpu_environment() {
  Environment environment;
  environment.cpu_name = "Example CPU";
  environment.cpu_cores = 16;
  environment.operating_system = "Debian GNU/Linux 12";
  environment.versions = {{"libtorch", "2.11.0"}, {"compiler", "g++ 12.2.0"}};
  environment.commit = "0123456789abcdef0123456789abcdef01234567";
  environment.sources_digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  environment.build_type = "Release";
  environment.date = "2026-01-02T03:04:05+00:00";
  return environment;
}

Environment gpu_environment() {
  Environment environment = cpu_environment();
  GpuFacts gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  gpu.compute_capability = "9.0";
  gpu.sm_count = 132;
  gpu.memory_bytes = 150'754'820'096;
  gpu.l2_bytes = 52'428'800;
  gpu.ecc = true;
  gpu.mig = false;
  gpu.power_limit_w = 700;
  gpu.max_sm_clock_hz = 1.98e9;
  gpu.other_processes = 0;
  environment.gpu = gpu;
  environment.versions["driver"] = "580.159";
  return environment;
}

results::NamedResults gpu_results(std::vector<Record> records) {
  return {"a.json",
          {.environment = gpu_environment(),
           .host = {},
           .options = {},
           .interrupted = false,
           .records = std::move(records)}};
}

results::ResultFile golden_file() {
  results::ResultFile file;
  file.environment = gpu_environment();
  file.environment.compile_options = "-O3 -DNDEBUG, CUDA -O3, GPUs 90a";
  file.environment.cpu_limits = CpuLimits{.affinity = "0-7,16", .quota = 8.5};
  file.host.executable = "./transformer_bench";
  file.host.mhz_per_cpu = 2600.5;
  file.host.cpu_scaling_enabled = false;
  file.host.load_avg = {0.5, 0.25, 0.125};
  file.options = {{"suite", "standard"}, {"seed", "1"}};
  file.interrupted = true;
  Record oom = failed_record(model_id("train_step", "eager", "2.7B", 1024), Status::kOom,
                             "out of memory: 8589934592 bytes asked for");
  oom.requested_bytes = 8'589'934'592;
  file.records = {full_record(), oom};
  for (std::int64_t i = 0; i < 2; ++i) {
    Record record = timed_record(model_id("forward", "eager"), Seconds{i == 0 ? 0.008 : 0.016});
    record.repetition_index = i;
    record.repetitions = 2;
    file.records.push_back(record);
  }
  file.records.back().status = Status::kUnstable;
  file.records.back().reason = "the median's 95 % interval is 7 % wide after 60 s";
  file.records.push_back(timed_record(CaseId{"Gemm", {{"m", "4096"}, {"precision", "tf32"}}}, Seconds{0.0005}));
  file.records.push_back(burst_record(CaseId{"Attention", {{"seq_len", "64"}, {"pass", "forward"}}}, Seconds{4.25e-6}));
  return file;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tbench_report_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"cannot make the folder " + pattern};
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{path_})
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  file << text;
  if (!file.flush()) throw std::runtime_error{"cannot write " + path};
}

}  // namespace tbench::support
