#include "tbench/ranks/launch.hpp"

#include <fmt/format.h>

#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::ranks {
namespace {

constexpr const char* kAlone = "WORLD_SIZE=1 runs this process by itself";
constexpr std::int64_t kMaxRanks = 65536;
constexpr std::int64_t kMaxPort = 65535;
/// The range of ports at which a Slurm step meets. Two steps of one host seldom share a port, and the range lies below
/// the ports that Linux assigns itself (from 32768 on).
constexpr std::int64_t kFirstStepPort = 20000;
constexpr std::int64_t kStepPorts = 10000;

/// The environment variables of one launcher.
class Variables {
 public:
  Variables(const Lookup& variable, const char* because) : variable_{variable}, because_{because} {}

  [[nodiscard]] std::string text(const std::string& name) const {
    const std::optional<std::string> value = variable_(name);
    if (value && !value->empty()) return *value;
    throw UsageError{
        fmt::format("{} is not set, although {}: start the ranks with torchrun or srun; {}", name, because_, kAlone)};
  }
  /// Parses a variable as a whole number.
  /// @param last  largest valid number
  [[nodiscard]] std::int64_t number(const std::string& name, std::int64_t first, std::int64_t last) const {
    const std::string value = text(name);
    const std::optional<std::int64_t> parsed = parse_integer(value);
    if (parsed && *parsed >= first && *parsed <= last) return *parsed;
    throw UsageError{fmt::format("{}={}: not a whole number from {} to {}; {}", name, value, first, last, kAlone)};
  }

 private:
  const Lookup& variable_;
  const char* because_;
};

std::optional<Launch> torchrun_launch(const Lookup& variable) {
  const Variables variables{variable, "WORLD_SIZE is"};
  const std::int64_t size = variables.number("WORLD_SIZE", 1, kMaxRanks);
  if (size == 1) return std::nullopt;
  return Launch{.launcher = Launcher::kTorchrun,
                .rank = static_cast<int>(variables.number("RANK", 0, size - 1)),
                .size = static_cast<int>(size),
                .local_rank = static_cast<int>(variables.number("LOCAL_RANK", 0, size - 1)),
                .address = variables.text("MASTER_ADDR"),
                .port = static_cast<std::uint16_t>(variables.number("MASTER_PORT", 1, kMaxPort)),
                .has_agent_store = variable("TORCHELASTIC_USE_AGENT_STORE") == "True",
                .attempt = variable("TORCHELASTIC_RESTART_COUNT").value_or("0")};
}

std::uint16_t step_port(const Lookup& variable, const Variables& variables) {
  if (variable("MASTER_PORT")) return static_cast<std::uint16_t>(variables.number("MASTER_PORT", 1, kMaxPort));
  constexpr std::int64_t kLargestId = 0xffffffff;
  const std::int64_t job = variables.number("SLURM_JOB_ID", 0, kLargestId);
  const std::int64_t step = variables.number("SLURM_STEP_ID", 0, kLargestId);
  return static_cast<std::uint16_t>(kFirstStepPort + (job * 16 + step) % kStepPorts);
}

/// Returns nullopt outside a step (for example in a batch script), where SLURM_STEP_NODELIST is not set, whatever the
/// job's number of tasks.
std::optional<Launch> slurm_launch(const Lookup& variable) {
  const std::optional<std::string> nodes = variable("SLURM_STEP_NODELIST");
  if (!nodes) return std::nullopt;
  const Variables variables{variable, "SLURM_STEP_NODELIST is"};
  const std::int64_t size = variables.number("SLURM_NTASKS", 1, kMaxRanks);
  if (size == 1) return std::nullopt;
  const std::optional<std::string> address = variable("MASTER_ADDR");
  return Launch{.launcher = Launcher::kSlurm,
                .rank = static_cast<int>(variables.number("SLURM_PROCID", 0, size - 1)),
                .size = static_cast<int>(size),
                .local_rank = static_cast<int>(variables.number("SLURM_LOCALID", 0, size - 1)),
                .address = address ? *address : first_host(*nodes),
                .port = step_port(variable, variables)};
}

}  // namespace

std::optional<Launch> find_launch(const Lookup& variable) {
  return variable("WORLD_SIZE") ? torchrun_launch(variable) : slurm_launch(variable);
}

std::string first_host(std::string_view nodes) {
  const auto malformed = [&] {
    return UsageError{
        fmt::format("SLURM_STEP_NODELIST={}: has no first host; give the host of rank 0 as MASTER_ADDR", nodes)};
  };
  std::string host;
  while (!nodes.empty() && nodes.front() != ',') {
    if (nodes.front() != '[') {
      host += nodes.front();
      nodes.remove_prefix(1);
      continue;
    }
    const std::size_t close = nodes.find(']');
    const std::string_view range = nodes.substr(1, close == std::string_view::npos ? 0 : close - 1);
    const std::string_view first = range.substr(0, range.find_first_of(",-"));
    if (first.empty()) throw malformed();
    host += first;
    nodes.remove_prefix(close + 1);
  }
  if (host.empty()) throw malformed();
  return host;
}

std::string visible_gpu(const std::optional<std::string>& visible, int local_rank) {
  if (!visible) return fmt::format("{}", local_rank);
  const std::vector<std::string> gpus = split(*visible, ',');
  if (gpus.size() == 1) return gpus.front();
  if (static_cast<std::size_t>(local_rank) < gpus.size()) return gpus[static_cast<std::size_t>(local_rank)];
  throw UsageError{
      fmt::format("CUDA_VISIBLE_DEVICES={}: {} GPUs, and this is rank {} of its host, counted from 0: start at most as "
                  "many ranks as "
                  "GPUs",
                  *visible, gpus.size(), local_rank)};
}

}  // namespace tbench::ranks
