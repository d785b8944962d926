// The rendezvous of the ranks' supervisors, from the side of one of them: how they introduce themselves, how rank 0
// calls the rounds (one case per round) and collects the reports, and how all ranks learn that a round is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/run/rank_request.hpp"
#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {

/// Opens the store that the ranks share. Tests open their own.
using OpenStore = std::function<std::unique_ptr<ranks::Store>(const ranks::Waiting&)>;

/// How a rank waits for the others.
struct Patience {
  Seconds limit;                                      // longest wait for an answer that is due soon
  std::function<bool()> stop;                         // whether the user asked to stop
  std::function<void(const std::string& line)> tell;  // prints a line about a long wait
  Seconds quiet{10.0};                                // duration after which a wait is long
};

class Rendezvous {
 public:
  /// Stores the arguments; opens nothing yet.
  Rendezvous(const ranks::Launch& launch, OpenStore open, Patience patience);
  /// Releases the other ranks: rank 0 ends the run and waits for the ranks that still need its store.
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  [[nodiscard]] const ranks::Launch& launch() const { return launch_; }
  [[nodiscard]] bool is_coordinator() const { return launch_.rank == 0; }
  /// Whether this rank has introduced itself to the others, by meet() or refuse().
  [[nodiscard]] bool is_introduced() const { return is_introduced_; }

  /// Introduces this rank and waits for all others. After some time one line names the ranks that are missing: rank 0
  /// prints it, or this rank if rank 0 itself is missing.
  /// @return  false if the user stopped this rank or rank 0 first
  /// @throws  UsageError          on every rank alike, if they must not run together
  /// @throws  std::runtime_error  naming the ranks that do not come
  [[nodiscard]] bool meet(const RankHello& own);
  /// Tells the other ranks that this rank does not take part, or why nobody can.
  /// @return  whether this rank has to tell the user; rank 0 does so for all ranks if it can be reached
  [[nodiscard]] bool refuse(const std::string& why) noexcept;

  /// Begins the next round. For rank 0.
  void call(const RankRequest& call);
  /// Waits for the next round. Returns a request without a name if `stop` became true first. For the other ranks.
  [[nodiscard]] RankRequest next_call(const std::function<bool()>& stop);
  /// Whether any rank has lost the round.
  [[nodiscard]] bool is_lost();
  /// Declares the round lost for all ranks.
  void lose();
  /// Reports this rank's records of the round. For the other ranks.
  void report(std::span<const Record> records);
  /// Waits for the report of `rank` on the round and returns its records. For rank 0.
  /// @param waiting  called repeatedly while there is no report
  /// @throws         std::runtime_error  naming the rank, if it does not report within `limit`
  [[nodiscard]] std::vector<Record> report_of(int rank, const std::string& name, Seconds limit,
                                              const std::function<void()>& waiting);

 private:
  [[nodiscard]] ranks::Store& store();
  [[nodiscard]] bool wait_for_hellos();
  void take_back_hello() noexcept;
  void tell_wait(const ranks::Wait& wait);
  [[nodiscard]] bool wait_for(const std::string& key, Seconds limit, const std::function<void()>& waiting = {});
  [[nodiscard]] std::string of_round(const char* what) const;
  void leave();

  ranks::Launch launch_;
  OpenStore open_;
  Patience patience_;
  std::unique_ptr<ranks::Store> store_;
  std::string unreachable_;  // why there is no store; empty if there is one, or if it was not opened yet
  std::chrono::steady_clock::time_point waits_since_;
  std::string told_;    // the wait that was last told to the user
  std::string errand_;  // sentence about why this rank waits, for the user; may be empty
  std::int64_t round_{};
  bool is_introduced_{};
  bool is_over_{};
};

/// Returns the name of the ranks' group that measures the current round.
[[nodiscard]] std::string group_of_round(ranks::Store& store);

}  // namespace tbench::bench
