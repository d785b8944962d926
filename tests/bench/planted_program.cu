// transformer_bench with the tests' families instead of its own: cases that fail in every possible way, and kernels of
// known duration.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "bench/families/family.hpp"
#include "bench/session/program.hpp"
#include "ranks/planted_ranks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/flush_and_spin.hpp"

namespace tbench::bench {
namespace {

constexpr std::array<std::string_view, 1> kPhases{"step"};

__global__ void write_kernel(int* address) { *address = 1; }

/// Writes to an address outside all allocations and waits for the device. The kernel ruins its CUDA context.
/// @throws  std::runtime_error  with CUDA's error, also without a GPU
void write_to_bad_address() {
  write_kernel<<<1, 1>>>(reinterpret_cast<int*>(std::uintptr_t{0x10}));
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) throw std::runtime_error{cudaGetErrorString(error)};
}

/// Writes to a pipe that nobody reads, as a rank writes to its socket after its peer was killed.
/// @throws  std::system_error  with the reason, if no signal ends the process
void write_to_closed_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  ::close(ends[0]);
  const auto written = ::write(ends[1], "x", 1);
  const int error = errno;
  ::close(ends[1]);
  if (written < 0) throw std::system_error{error, std::generic_category(), "the peer is gone"};
}

Verification verdict(bool wrong) {
  return {.passed = !wrong,
          .reference = "planted",
          .worst_error = wrong ? 7.0 : 0.5,
          .worst_where = "output[3]",
          .message = wrong ? "output[3] is 2, the reference says 1" : ""};
}

class PlantedCase final : public Case {
 public:
  explicit PlantedCase(std::string fault) : fault_{std::move(fault)} {}

  std::optional<std::string> unsupported_reason() const override {
    if (fault_ == "unsupported") return "planted: no machine can";
    return std::nullopt;
  }
  void build() override {
    if (fault_ == "oom") throw OutOfMemory{"planted: tried to allocate 1 TiB", std::int64_t{1} << 40};
    if (fault_ == "throw") throw std::runtime_error{"planted exception"};
  }
  Verification verify() override { return verdict(fault_ == "incorrect"); }
  std::optional<Verification> verify_again() override { return verdict(fault_ == "incorrect_later"); }
  std::span<const std::string_view> phases() const override { return kPhases; }
  void launch(PhaseMarker& marker) override {
    if (fault_ == "abort") std::abort();
    if (fault_ == "segfault") std::raise(SIGSEGV);
    if (fault_ == "exit") ::_exit(3);
    if (fault_ == "hang") std::this_thread::sleep_for(std::chrono::hours{1});
    if (fault_ == "bad_address") write_to_bad_address();
    if (fault_ == "peer_gone") write_to_closed_pipe();
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    marker.mark();
  }
  Work work() const override { return {.flop = {1e6}, .tokens = 10}; }
  std::map<std::string, double> counters() override { return {{"process_id", static_cast<double>(::getpid())}}; }

 private:
  std::string fault_;
};

class PlantedKernel final : public Case {
 public:
  PlantedKernel(Seconds duration, bool on_gpu, Work work = {.flop = {1e6}, .tokens = 10})
      : duration_{duration}, on_gpu_{on_gpu}, work_{std::move(work)} {}

  std::optional<std::string> unsupported_reason() const override { return std::nullopt; }
  void build() override {}
  Verification verify() override {
    return {.passed = true, .reference = "planted", .worst_error = 0.0, .worst_where = "", .message = ""};
  }
  std::span<const std::string_view> phases() const override { return kPhases; }
  void launch(PhaseMarker& marker) override {
    if (on_gpu_) {
      cuda::launch_spin(duration_, nullptr);
    } else {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>{duration_.value};
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    marker.mark();
  }
  Work work() const override { return work_; }
  std::map<std::string, double> counters() override { return {}; }

 private:
  Seconds duration_;
  bool on_gpu_;
  Work work_;
};

constexpr Seconds kCeilingStep{100e-6};
constexpr Seconds kHeldStep{400e-6};

const std::vector<std::string> kRegimes{"burst", "sustained"};

/// Returns a case of 10^6 bytes if its value of `key` is copy, else of 10^6 FLOP.
std::unique_ptr<Case> make_rated(const CaseId& id, const char* key, Seconds duration, bool on_gpu) {
  const Work work =
      id.at(key) == "copy" ? Work{.flop = {}, .tokens = 0, .bytes = 1'000'000} : Work{.flop = {1e6}, .tokens = 0};
  return std::make_unique<PlantedKernel>(duration, on_gpu, work);
}

/// `PlantedKernel/us:N`: a kernel that takes N microseconds, timed in bursts. Only the standard suite has it.
Family planted_kernel_family() {
  return {.spec = {.name = "PlantedKernel",
                   .keys = {{"us", {}}},
                   .tables = {{"all", Suite::kStandard, true, {{"us", {"3", "100"}}}}},
                   .invalid_reason = {},
                   .regime = Regime::kBurst},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return std::make_unique<PlantedKernel>(Seconds{static_cast<double>(id.int_at("us")) * 1e-6},
                                                   context.on_gpu);
          },
          .precision = {}};
}

/// `Ceiling/what:{copy,gemm_fp32}/regime:R`: 10^6 bytes or FLOP in 100 us. The copy exists only in bursts. The family
/// is in the standard suite.
Family planted_ceiling_family() {
  const std::vector<std::string> what{"copy", "gemm_fp32"};
  return {.spec = {.name = "Ceiling",
                   .keys = {{"what", what}, {"regime", kRegimes}},
                   .tables = {{"bytes", Suite::kStandard, false, {{"what", {"copy"}}, {"regime", {"burst"}}}},
                              {"flop", Suite::kStandard, false, {{"what", {"gemm_fp32"}}, {"regime", kRegimes}}}},
                   .invalid_reason = [](const CaseId& id) -> std::optional<std::string> {
                     if (id.at("what") == "gemm_fp32" || id.at("regime") == "burst") return std::nullopt;
                     return "planted: in bursts alone";
                   },
                   .has_own_l2 = true},
          .make_case = [](const CaseId& id,
                          const CaseContext& context) { return make_rated(id, "what", kCeilingStep, context.on_gpu); },
          .precision = {}};
}

/// `Held/against:{copy,gemm_fp32,nothing}/regime:R`: reaches a quarter of that ceiling. In the standard suite.
Family planted_held_family() {
  return {.spec = {.name = "Held",
                   .keys = {{"against", {"copy", "gemm_fp32", "nothing"}}, {"regime", kRegimes}},
                   .tables = {{"all",
                               Suite::kStandard,
                               true,
                               {{"against", {"copy", "gemm_fp32", "nothing"}}, {"regime", kRegimes}}}},
                   .invalid_reason = {}},
          .make_case = [](const CaseId& id,
                          const CaseContext& context) { return make_rated(id, "against", kHeldStep, context.on_gpu); },
          .precision = {},
          .ceiling = [](const CaseId& id) -> std::optional<std::string> {
            if (id.at("against") == "nothing") return std::nullopt;
            return id.at("against");
          }};
}

/// `Planted/fault:F/index:I`: the fault `none` succeeds (a few milliseconds per step). The other faults fail as their
/// names say.
Family planted_family() {
  const std::vector<std::string> faults{
      "none",     "unsupported", "oom",  "throw",       "incorrect",       "abort",
      "segfault", "exit",        "hang", "bad_address", "incorrect_later", "peer_gone"};
  return {.spec = {.name = "Planted",
                   .keys = {{"fault", faults}, {"index", {}}},
                   .tables = {{"all", Suite::kSmoke, true, {{"fault", faults}, {"index", {"1"}}}},
                              {"good", Suite::kFull, true, {{"fault", {"none"}}, {"index", {"1", "2", "3"}}}}},
                   .invalid_reason = {}},
          .make_case = [](const CaseId& id, const CaseContext&) -> std::unique_ptr<Case> {
            return std::make_unique<PlantedCase>(id.at("fault"));
          },
          .precision = {}};
}

/// Correct cases with 3 samples after 2 warm-up steps, each in its own process: `Fresh/fault:none/index:{1,2,3}` in the
/// standard suite.
Family planted_fresh_family() {
  Family family = planted_family();
  family.spec.name = "Fresh";
  family.spec.tables = {{"good", Suite::kStandard, true, {{"fault", {"none"}}, {"index", {"1", "2", "3"}}}}};
  family.prescribe = [](const CaseId&, measure::SamplerOptions& sampler) {
    sampler.fixed_warm_up = 2;
    sampler.fixed_samples = 3;
  };
  family.needs_fresh_process = true;
  return family;
}

}  // namespace
}  // namespace tbench::bench

int main(int argc, char** argv) {
  using namespace tbench::bench;
  return run_program(argc, argv, [](const std::vector<tbench::ModelSize>&) {
    return std::vector{planted_family(),      planted_kernel_family(),  planted_fresh_family(),
                       planted_held_family(), planted_ceiling_family(), planted_ranks_family()};
  });
}
