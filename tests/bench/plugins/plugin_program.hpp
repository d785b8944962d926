// Runs transformer_bench with plug-ins of the tests, as a user does on the CPU.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_command.hpp"

namespace tbench::test {

class PluginProgram : public InFolder {
 protected:
  static std::string library(const std::string& name) { return TBENCH_PLUGINS "/lib" + name + ".so"; }
  static std::string flag(const std::string& name) { return "--tb_plugin=" + library(name); }

  /// Runs with just enough time to sample for a verdict.
  CommandResult run(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {TBENCH_PROGRAM, "--tb_device=cpu", "--tb_suite=smoke", "--benchmark_min_time=0.02",
                                 "--benchmark_min_warmup_time=0.01", "--benchmark_out=" + out_});
    return run_command(flags);
  }
  [[nodiscard]] nlohmann::json contents() const {
    std::ifstream stream{out_};
    return nlohmann::json::parse(stream);
  }
  [[nodiscard]] nlohmann::json entries() const { return contents().at("benchmarks"); }
  /// Returns the entry of every implementation, if each has one.
  [[nodiscard]] std::map<std::string, nlohmann::json> by_impl() const {
    std::map<std::string, nlohmann::json> all;
    for (const nlohmann::json& entry : entries()) {
      const std::string impl = entry.at("tbench").at("parameters").at("impl");
      EXPECT_FALSE(all.contains(impl)) << entry.at("name");
      all[impl] = entry;
    }
    return all;
  }
};

/// Matches the status of a case that was verified and timed. It may be unstable on a busy machine.
inline testing::Matcher<std::string> is_measured() { return testing::AnyOf("ok", "unstable"); }

inline std::string status_of(const nlohmann::json& entry) { return entry.at("tbench").at("status"); }

inline constexpr const char* kOneProduct = "--benchmark_filter=Gemm/m:64/.*precision:fp32/";

}  // namespace tbench::test
