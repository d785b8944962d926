#include "compare/input/measuring_way.hpp"

#include <array>

namespace tbench::compare {

std::map<std::string, std::string> measuring_way(const std::map<std::string, std::string>& options, Regime regime) {
  static constexpr std::array kOfRegime{"min_time_s", "min_warmup_time_s"};
  static constexpr std::array kOfBoth{"samples", "warmup", "verify", "isolate", "memory_limit"};
  std::map<std::string, std::string> way;
  const auto take = [&](const std::string& name, const std::string& option) {
    const auto found = options.find(option);
    way[name] = found == options.end() ? std::string{kUnsaid} : found->second;
  };
  for (const char* const name : kOfRegime) take(name, regime == Regime::kBurst ? std::string{"burst_"} + name : name);
  for (const char* const name : kOfBoth) take(name, name);
  // The trace of a kernel does not affect its time: it has launches of its own, after the timing.
  if (regime == Regime::kSustained) take("trace", "trace");
  return way;
}

}  // namespace tbench::compare
