// Notes that the ranks of a run leave each other: keys with values, served by torchrun's agent or by rank 0. They are
// for rare events, such as which case is next and how it ended; measuring uses a Group.
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
  /// Returns before whoever serves the store has the value: another process's has() may not find it yet.
  /// @throws  std::runtime_error  as has() and get(), if whoever serves the store is gone
  virtual void set(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual bool has(const std::string& key) = 0;
  /// The value of a key that has() found, or that another process sets within the store's limit.
  [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// A wait for others that goes on.
struct Wait {
  std::string what;      // "for rank 0 to serve the ranks' store at node7:29500 (MASTER_ADDR, MASTER_PORT)"
  bool is_suspicious{};  // it may well be in vain: the user is to know at once
};
/// Called several times per second; throws to end the wait.
using Waiting = std::function<void(const Wait&)>;

/// Connects to the store of the ranks, or serves it where nobody else does. Every process of a rank may: its supervisor
/// and its worker.
/// @param may_serve  of a supervisor: Launch::serves_store() is for this process
/// @param limit      how long to wait for whoever serves it
/// @param waiting    none: nobody is told, and nothing ends the wait but the limit
/// @throws           std::runtime_error  with address and port, if there is none; what `waiting` throws
[[nodiscard]] std::unique_ptr<Store> open_store(const Launch& launch, bool may_serve, Seconds limit,
                                                const Waiting& waiting = {});

}  // namespace tbench::ranks
