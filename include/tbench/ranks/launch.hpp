// A process in a launch by torchrun or Slurm: its rank, the number of ranks, and the address at which the ranks meet. A
// pure function of environment variables.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench {
namespace ranks {

/// The program that started the ranks. `kTorchrun` stands for any program that sets RANK and WORLD_SIZE.
enum class Launcher { kTorchrun, kSlurm };

struct Launch {
  Launcher launcher{};
  int rank{};
  int size{};        // at least 2
  int local_rank{};  // among the ranks of this host
  std::string address;
  std::uint16_t port{};
  /// Whether torchrun's agent serves the store at that address. If it does not, rank 0 serves it.
  bool has_agent_store{};
  /// Distinguishes this attempt from earlier ones in the same store, since torchrun restarts all ranks after one fails.
  std::string attempt{"0"};
  bool operator==(const Launch&) const = default;

  /// Returns whether this process serves the store for the other ranks.
  [[nodiscard]] bool serves_store() const { return rank == 0 && !has_agent_store; }
};

/// Returns the value of an environment variable, or nullopt if it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Finds the launch that this process belongs to. torchrun sets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and
/// MASTER_PORT. In a step of several tasks, Slurm sets SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and
/// SLURM_STEP_NODELIST, whose first host is the address; the port is MASTER_PORT, or follows from the numbers of job
/// and step. WORLD_SIZE takes precedence, since torchrun may run inside a step. WORLD_SIZE=1 makes the process run by
/// itself.
/// @return  the launch; nullopt if the process runs by itself
/// @throws  UsageError  with the variable, its value and a valid value
[[nodiscard]] std::optional<Launch> find_launch(const Lookup& variable);

/// Returns the first host of Slurm's list: `node07` for `node[07-09,12],login`.
/// @throws  UsageError  with SLURM_STEP_NODELIST and its value
[[nodiscard]] std::string first_host(std::string_view nodes);

/// Returns the value of CUDA_VISIBLE_DEVICES that shows this rank only its own GPU: entry `local_rank` of the current
/// list. A list with one entry is returned unchanged, since the launcher has then assigned the GPU already.
/// @param visible  present value of the variable; nullopt stands for all GPUs of the host
/// @throws         UsageError  if the host has more ranks than the list has GPUs
[[nodiscard]] std::string visible_gpu(const std::optional<std::string>& visible, int local_rank);

}  // namespace ranks

template <>
struct EnumNames<ranks::Launcher> {
  static constexpr std::array<std::string_view, 2> kNames{"torchrun", "slurm"};
};

}  // namespace tbench
