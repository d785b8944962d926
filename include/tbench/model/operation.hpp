// One operation on tensors, free of LibTorch in its interface: what a benchmark case builds, checks and launches.
// Matrix products, single kernels, sums and the GPU's ceilings are operations, one file each in `operation/`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tbench/core/record.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {

class Operation {
 public:
  virtual ~Operation() = default;
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Why this machine cannot run it, or nothing. Needs no build().
  [[nodiscard]] virtual std::optional<std::string> unsupported_reason() const = 0;
  /// Bytes of device memory that it certainly holds at once; 0 where it cannot tell.
  [[nodiscard]] virtual std::int64_t least_bytes() const { return 0; }
  /// FLOP and bytes by stated formulas, and the ceiling they are held against.
  [[nodiscard]] virtual Work work() const = 0;
  /// Its own numbers, read after sampling. May synchronise.
  [[nodiscard]] virtual std::map<std::string, double> counters() { return {}; }
  /// What it saw that is no number (Record::findings). May synchronise.
  [[nodiscard]] virtual std::map<std::string, std::string> findings() { return {}; }

  /// Allocates and fills what launch() needs: seeded normal values, never zeros.
  /// @throws  OutOfMemory
  void build();
  /// Runs what will be timed, after its outputs were overwritten with NaN, and compares with float64 or exactly.
  /// Synchronises.
  /// @throws  OutOfMemory
  [[nodiscard]] Verification verify();
  /// Enqueues the operation once on the current stream. Never synchronises.
  /// @throws  OutOfMemory
  void launch();

 private:
  virtual void do_build() = 0;
  virtual Verification do_verify() = 0;
  virtual void do_launch() = 0;
};

}  // namespace tbench::model
