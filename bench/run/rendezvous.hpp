// The supervisors of all ranks, as one of them sees them: how they introduce themselves, how rank 0 calls the rounds (a
// case each) and hears how they went, and how all learn that a round is lost.
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

/// Opens the store of the ranks; a test's is of its own.
using OpenStore = std::function<std::unique_ptr<ranks::Store>(const ranks::Waiting&)>;

/// How a rank waits for the others.
struct Patience {
  Seconds limit;                                      // for what they have to say soon
  std::function<bool()> stop;                         // whether the user asked to stop
  std::function<void(const std::string& line)> tell;  // what is waited for, if it takes long
  Seconds quiet{10.0};                                // that a wait may take before it is told
};

class Rendezvous {
 public:
  /// Opens nothing yet.
  Rendezvous(const ranks::Launch& launch, OpenStore open, Patience patience);
  /// Lets the others go: rank 0 ends the run, and waits for those that need its store.
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  [[nodiscard]] const ranks::Launch& launch() const { return launch_; }
  [[nodiscard]] bool is_coordinator() const { return launch_.rank == 0; }
  /// Whether the others know of this rank, by meet() or refuse().
  [[nodiscard]] bool is_introduced() const { return is_introduced_; }

  /// Introduces this rank, and waits for all others to. After some time one line says for whom: of rank 0, or where
  /// that is the one that is waited for.
  /// @return  false if the user asked to stop first, here or rank 0
  /// @throws  UsageError          on every rank alike, if they must not run together
  /// @throws  std::runtime_error  naming the ranks that do not come
  [[nodiscard]] bool meet(const RankHello& own);
  /// Tells the others that this rank does not take part, or that it has seen why nobody can.
  /// @return  whether this rank has to tell the user: rank 0 does it for all, if it can be reached
  [[nodiscard]] bool refuse(const std::string& why) noexcept;

  /// Rank 0: begins the next round.
  void call(const RankRequest& call);
  /// The others: waits for the next round. One without a name where `stop` became true first.
  [[nodiscard]] RankRequest next_call(const std::function<bool()>& stop);
  /// Whether the round is lost, for whatever rank.
  [[nodiscard]] bool is_lost();
  /// Loses the round for all.
  void lose();
  /// The others: how the round went here.
  void report(std::span<const Record> records);
  /// Rank 0: how the round went for `rank`, once it says so.
  /// @param waiting  called while it does not
  /// @throws         std::runtime_error  naming the rank, if it does not within `limit`
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
  std::string unreachable_;  // why there is no store; empty: there is, or nobody has tried
  std::chrono::steady_clock::time_point waits_since_;
  std::string told_;    // of a wait
  std::string errand_;  // a sentence of what the wait is to tell the others; empty: that this rank is there
  std::int64_t round_{};
  bool is_introduced_{};
  bool is_over_{};
};

/// The name, among the groups that the ranks make, of the one that measures the round that is called now.
[[nodiscard]] std::string group_of_round(ranks::Store& store);

}  // namespace tbench::bench
