// The supervisors of all ranks, as one of them sees them: how they introduce themselves, how rank 0 calls the rounds (a
// case each) and hears how they went, and how all learn that a round is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks/round.hpp"
#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {

/// Opens the store of the ranks; a test's is of its own.
using OpenStore = std::function<std::unique_ptr<ranks::Store>()>;

class RankMeeting {
 public:
  /// Opens nothing yet.
  /// @param limit  how long to wait for what others have to say soon
  RankMeeting(const ranks::Launch& launch, OpenStore open, Seconds limit);
  /// Lets the others go: rank 0 ends the run, and waits for those that need its store.
  ~RankMeeting();
  RankMeeting(const RankMeeting&) = delete;
  RankMeeting& operator=(const RankMeeting&) = delete;

  [[nodiscard]] const ranks::Launch& launch() const { return launch_; }
  [[nodiscard]] bool leads() const { return launch_.rank == 0; }
  /// Whether the others know of this rank, by meet() or refuse().
  [[nodiscard]] bool is_introduced() const { return is_introduced_; }

  /// Introduces this rank, and waits for all others to.
  /// @throws  UsageError          on every rank alike, if they must not run together
  /// @throws  std::runtime_error  naming the rank that does not come
  void meet(const Introduction& own);
  /// Tells the others that this rank does not take part, or that it has seen why nobody can.
  /// @return  whether this rank has to tell the user: rank 0 does it for all, if it can be reached
  [[nodiscard]] bool refuse(const std::string& why) noexcept;

  /// Rank 0: begins the next round.
  void call(const RoundCall& call);
  /// The others: waits for the next round. One without a name where `stop` became true first.
  [[nodiscard]] RoundCall next_call(const std::function<bool()>& stop);
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
  [[nodiscard]] bool wait_for(const std::string& key, Seconds limit, const std::function<void()>& waiting = {});
  [[nodiscard]] std::string of_round(const char* what) const;
  void leave();

  ranks::Launch launch_;
  OpenStore open_;
  Seconds limit_;
  std::unique_ptr<ranks::Store> store_;
  std::int64_t round_{};
  bool is_introduced_{};
  bool is_over_{};
};

/// The name, among the groups that the ranks make, of the one that measures the round that is called now.
[[nodiscard]] std::string group_of_round(ranks::Store& store);

}  // namespace tbench::bench
