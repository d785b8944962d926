// Writes a profile into a folder as --tb_profile does, for the test that opens the profile's page in a browser.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "profile/synthetic_steps.hpp"
#include "tbench/core/allocation_log.hpp"
#include "tbench/profile/profile_files.hpp"

namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr int kLayers = 12;

/// Logs steps before which 1,000 MiB are live. In forward, each layer keeps 30 MiB for attention and 60 MiB for its
/// ffn. Backward frees them in reverse order and allocates a gradient of 20 MiB, which the next step frees. The
/// optimizer needs 5 MiB.
class MemorySteps {
 public:
  MemorySteps() {
    log.allocated_before = live_;
    log.ranges = {"", "OPTIMIZER"};
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* part : {"FORWARD/layer.{}/attention", "FORWARD/layer.{}/ffn", "BACKWARD/layer.{}"})
        log.ranges.push_back(fmt::format(fmt::runtime(part), layer));
    }
    for (int step = 0; step < 2; ++step) add_step(step > 0);
  }

  tbench::AllocationLog log;
  std::vector<tbench::LoggedStep> steps;

 private:
  static std::size_t range(int layer, std::size_t part) { return 2 + 3 * static_cast<std::size_t>(layer) + part; }

  void add_step(bool has_gradients) {
    steps.push_back({.begin = log.events.size(), .phase_ends = {}});
    const auto end_phase = [&] { steps.back().phase_ends.push_back(log.events.size()); };
    for (int layer = 0; layer < kLayers && has_gradients; ++layer) add(address(layer, 2), -20, 0);
    for (int layer = 0; layer < kLayers; ++layer) {
      add(address(layer, 0), 30, range(layer, 0));
      add(address(layer, 1), 60, range(layer, 1));
    }
    end_phase();
    for (int layer = kLayers - 1; layer >= 0; --layer) {
      add(address(layer, 2), 20, range(layer, 2));
      add(address(layer, 1), -60, range(layer, 2));
      add(address(layer, 0), -30, range(layer, 2));
    }
    end_phase();
    add(1, 5, 1);
    add(1, -5, 1);
    end_phase();
  }
  static std::uint64_t address(int layer, std::uint64_t part) {
    return 0x100 * (static_cast<std::uint64_t>(layer) + 1) + part;
  }
  void add(std::uint64_t address, std::int64_t mebi, std::size_t range) {
    live_ += mebi * kMebi;
    log.events.push_back({.address = address, .bytes = mebi * kMebi, .allocated = live_, .range = range});
  }

  std::int64_t live_{1000 * kMebi};
};

}  // namespace

int main(int argc, char** argv) {
  using namespace tbench::profile;
  if (argc != 2) return 2;
  constexpr int kSteps = 2;
  const std::array<std::string_view, 3> phases{"forward", "backward", "optimizer"};
  try {
    const Trace trace = SyntheticSteps::make(kSteps);
    const TraceFacts facts{.name = "Model/size:xl <b>", .steps = kSteps, .gpus = {"NVIDIA H200"}};
    write_profile_files(argv[1], trace, facts, analyse(trace, KernelRules::built_in()));
    const MemorySteps memory;
    write_memory_files(argv[1], memory.log, memory.steps, phases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
