#include "bench/cli/google_benchmark_flags.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kFilter = "--benchmark_filter";
constexpr const char* kContext = "--benchmark_context";
constexpr const char* kColor = "--benchmark_color";

struct Refusal {
  std::set<std::string> harmless;  // values that ask for the program's usual behaviour
  const char* why;
};

const std::set<std::string> kOff{"false", "no", "off", "0", "f", "n"};
const std::set<std::string> kOn{"", "true", "yes", "on", "1", "t", "y"};

const std::map<std::string, Refusal>& refusals() {
  static const std::map<std::string, Refusal> flags{
      {"--benchmark_enable_random_interleaving", {kOff, "cases run in the order of their tables"}},
      {"--benchmark_report_aggregates_only", {kOff, "files hold every repetition; 'tbench report' summarises them"}},
      {"--benchmark_display_aggregates_only", {kOff, "the console shows every repetition"}},
      {"--benchmark_perf_counters", {{""}, "hardware counters of the host do not measure the GPU"}},
      {"--benchmark_time_unit", {{"ms"}, "files are in ms, so that they can be compared"}},
      {"--benchmark_counters_tabular", {kOn, "the console is always a table"}},
      {"--benchmark_dry_run", {kOff, "use --tb_warmup=0 --tb_samples=1"}},
      {"--v", {{"0"}, "there is no debug log"}},
  };
  return flags;
}

/// Splits entries at those commas that are followed by a key and a value; other commas belong to the value.
void add_context(Words& words, const std::string& entries) {
  std::string entry;
  for (const std::string& part : split(entries, ',')) {
    if (!entry.empty() && part.find('=') != std::string::npos) {
      words.push_back(fmt::format("{}={}", kContext, entry));
      entry = part;
    } else {
      entry += (entry.empty() ? "" : ",") + part;
    }
  }
  words.push_back(fmt::format("{}={}", kContext, entry));
}

bool selects_all(const std::string& filter) { return filter.empty() || filter == "all"; }

}  // namespace

Words in_own_spelling(const Words& words) {
  Words own;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const TypedFlag flag = typed_flag({&words[i], 1});
    const auto refusal = refusals().find(flag.name);
    if (refusal != refusals().end()) {
      if (refusal->second.harmless.contains(flag.value) && (flag.has_equals || flag.name != "--v")) continue;
      throw UsageError{fmt::format("{}: not supported: {}", flag.name, refusal->second.why)};
    }
    if (flag.name == kFilter && flag.has_equals && selects_all(flag.value)) {
      own.push_back(fmt::format("{}=.", kFilter));
    } else if (flag.name == kFilter && !flag.has_equals && i + 1 < words.size() && selects_all(words[i + 1])) {
      own.push_back(fmt::format("{}=.", kFilter));
      ++i;
    } else if (flag.name == kColor && kOff.contains(flag.value)) {
      own.push_back(fmt::format("{}=false", kColor));
    } else if (flag.name == kColor && flag.has_equals && kOn.contains(flag.value)) {
      own.push_back(fmt::format("{}=true", kColor));
    } else if (flag.name == kContext && flag.has_equals) {
      add_context(own, flag.value);
    } else {
      own.push_back(words[i] == "-help" ? "--help" : words[i]);
    }
  }
  return own;
}

Words flags_for_google_benchmark() {
  return {kFilter + std::string{"=."}, "--benchmark_list_tests=false",  "--benchmark_out=",
          "--benchmark_repetitions=1", "--benchmark_min_warmup_time=0", "--benchmark_enable_random_interleaving=false",
          "--benchmark_dry_run=false"};
}

}  // namespace tbench::bench
