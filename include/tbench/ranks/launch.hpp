// The place of this process in a launch by torchrun or Slurm: which of how many ranks it is, and where the ranks meet.
// A pure function of environment variables.
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

/// The program that started the ranks. `kTorchrun` is whatever sets RANK and WORLD_SIZE.
enum class Launcher { kTorchrun, kSlurm };

struct Launch {
  Launcher launcher{};
  int rank{};
  int size{};        // at least 2
  int local_rank{};  // among the ranks of this host
  std::string address;
  std::uint16_t port{};
  /// torchrun's agent serves the store at that address; without one rank 0 does.
  bool has_agent_store{};
  /// Tells this start from an earlier one in the same store: torchrun starts all ranks again when one ends.
  std::string attempt{"0"};
  bool operator==(const Launch&) const = default;

  /// Whether this process serves the store for the others.
  [[nodiscard]] bool serves_store() const { return rank == 0 && !has_agent_store; }
};

/// The value of an environment variable, or nothing.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// torchrun: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. Slurm, in a step of several tasks: SLURM_PROCID,
/// SLURM_NTASKS, SLURM_LOCALID and the first host of SLURM_STEP_NODELIST; the port is MASTER_PORT, or follows from the
/// job's and the step's number. WORLD_SIZE goes first: torchrun may run inside a step, and WORLD_SIZE=1 makes a rank
/// run by itself.
/// @return  nothing for a process by itself
/// @throws  UsageError  naming the variable, its value and what would be right
[[nodiscard]] std::optional<Launch> find_launch(const Lookup& variable);

/// The first host of Slurm's list: `node07` of `node[07-09,12],login`.
/// @throws  UsageError  naming SLURM_STEP_NODELIST and its value
[[nodiscard]] std::string first_host(std::string_view nodes);

/// Returns the CUDA_VISIBLE_DEVICES with which this rank sees its own GPU alone: number `local_rank` of the present
/// list. A list of one is taken as it is: the launcher has given the rank its GPU.
/// @param visible  its value now; nothing: all GPUs of the host
/// @throws         UsageError  if the host has more ranks than the list has GPUs
[[nodiscard]] std::string visible_gpu(const std::optional<std::string>& visible, int local_rank);

}  // namespace ranks

template <>
struct EnumNames<ranks::Launcher> {
  static constexpr std::array<std::string_view, 2> kNames{"torchrun", "slurm"};
};

}  // namespace tbench
