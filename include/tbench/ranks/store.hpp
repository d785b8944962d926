// Messages that the ranks of a run leave for each other: keys with values, served by torchrun's agent or by rank 0.
// They are for rare events, such as the name of the next case and its outcome; measuring uses a Group.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::ranks {

class Store {
 public:
  virtual ~Store() = default;
  /// Sends a value. Returns before the store's server has it: has() in another process may not find it yet.
  /// @throws  std::runtime_error  if the server is gone; has() and get() throw it, too
  virtual void set(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual bool has(const std::string& key) = 0;
  /// Returns the value of a key that has() has found, or that another process sets within the store's time limit.
  [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// A wait for other processes that has not ended yet.
struct Wait {
  std::string what;      // "for rank 0 to serve the ranks' store at node7:29500 (MASTER_ADDR, MASTER_PORT)"
  bool is_suspicious{};  // may never succeed, so that the user is told at once
};
/// Called several times per second; throws to end the wait.
using Waiting = std::function<void(const Wait&)>;

/// Connects to the store of the ranks, or serves it if this process has to. A rank's supervisor and its worker may both
/// call it.
/// @param may_serve  whether Launch::serves_store() applies to this process: true for a supervisor
/// @param limit      longest wait for the server
/// @param waiting    called while waiting; if empty, only the limit ends the wait
/// @throws           std::runtime_error  with address and port, if no server answers; any exception of `waiting`
[[nodiscard]] std::unique_ptr<Store> open_store(const Launch& launch, bool may_serve, Seconds limit,
                                                const Waiting& waiting = {});

}  // namespace tbench::ranks
