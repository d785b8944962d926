// Where the ranks of a run leave each other notes: keys with values, served by torchrun's agent or by rank 0. For what
// is rare, who measures what next and how it ended; measuring uses a Group.
#pragma once

#include <memory>
#include <string>

#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::ranks {

class Store {
 public:
  virtual ~Store() = default;
  /// @throws  std::runtime_error  as has() and get(), if whoever serves the store is gone
  virtual void set(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual bool has(const std::string& key) = 0;
  /// The value of a key that has() found.
  [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// Connects to the store of the ranks, or serves it where nobody else does. Every process of a rank may: its supervisor
/// and its worker.
/// @param may_serve  of a supervisor: Launch::serves_store() is for this process
/// @param limit      how long to wait for whoever serves it
/// @throws           std::runtime_error  with address and port, if there is none
[[nodiscard]] std::unique_ptr<Store> open_store(const Launch& launch, bool may_serve, Seconds limit);

}  // namespace tbench::ranks
