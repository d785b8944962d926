// Makes a trace as large as the trace of a training step of the model `xl`, with real names and realistic times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "trace_samples.hpp"

namespace tbench::profile {

/// Returns names of kernels, with template arguments and parameters.
inline std::vector<std::string> real_kernel_names() {
  std::ifstream file{TBENCH_PROFILE_DATA "/kernel_names.json"};
  std::vector<std::string> names;
  for (const auto& entry : nlohmann::json::parse(file)) {
    const std::string name = entry.at("name");
    if (!name.starts_with("Mem")) names.push_back(name);
  }
  return names;
}

/// Makes launches and kernels with times from a seeded generator: calls take 2 to 7 us, and kernels 2 to 200 us.
class SyntheticSteps {
 public:
  /// Each step has 10,000 operations: 48 layers with 70 forward and 130 backward, and 400 of the optimizer.
  [[nodiscard]] static Trace make(int steps) {
    SyntheticSteps synthetic;
    for (int step = 0; step < steps; ++step) synthetic.add_step();
    return synthetic.trace_;
  }

 private:
  static constexpr int kLayers = 48;

  SyntheticSteps() {
    trace_.names = real_kernel_names();
    kernels_ = trace_.names.size();
    trace_.names.insert(trace_.names.end(), {"cudaLaunchKernel", "cuLaunchKernelEx", "FORWARD", "BACKWARD", "OPTIMIZER",
                                             "attention", "attention.qkv", "attention.softmax", "ffn", "norm"});
    for (int layer = 0; layer < kLayers; ++layer) trace_.names.push_back("layer." + std::to_string(layer));
    trace_.threads = {{.process = 0, .id = 4711}};
  }

  void add_step() {
    in_range(2, [&] {
      for (Index layer = 0; layer < kLayers; ++layer) {
        in_range(10 + layer, [&] {
          for (const Index part : {5U, 6U, 7U, 8U, 9U}) in_range(part, [&] { launch(14, part * 14); });
        });
      }
    });
    in_range(3, [&] {
      for (int layer = 0; layer < kLayers; ++layer) launch(130, 3);
    });
    in_range(4, [&] { launch(400, 11); });
  }

  template <class Inside>
  void in_range(Index name, const Inside& inside) {
    const std::size_t range = trace_.ranges.size();
    trace_.ranges.push_back({.start_ns = host_ns_, .name = static_cast<Index>(kernels_) + name});
    host_ns_ += between(100, 900);
    inside();
    host_ns_ += between(100, 900);
    trace_.ranges[range].end_ns = host_ns_;
  }

  /// Launches the kernels of a layer, which are the same in every layer.
  void launch(int count, std::size_t first) {
    for (int i = 0; i < count; ++i) {
      const std::size_t name = (first + static_cast<std::size_t>(i % 23) * 7) % kernels_;
      const std::int64_t begin_ns = host_ns_;
      host_ns_ += between(2'000, 7'000);
      trace_.calls.push_back({.start_ns = begin_ns,
                              .end_ns = host_ns_,
                              .name = static_cast<Index>(kernels_) + (name % 3 == 0 ? 1 : 0),
                              .correlation = ++correlation_});
      host_ns_ += between(500, 4'000);
      const std::int64_t start_ns = std::max(device_ns_ + between(600, 1'500), host_ns_);
      device_ns_ = start_ns + between(2'000, 200'000);
      trace_.operations.push_back({.start_ns = start_ns,
                                   .end_ns = device_ns_,
                                   .name = static_cast<Index>(name),
                                   .correlation = correlation_,
                                   .stream = 7});
    }
  }

  std::int64_t between(std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(max - min));
  }

  Trace trace_;
  std::size_t kernels_{};
  std::mt19937_64 random_{1};
  std::int64_t host_ns_{1'700'000'000'000'000'000};
  std::int64_t device_ns_{};
  std::uint32_t correlation_{};
};

}  // namespace tbench::profile
