// The messages between the ranks of a run, and their evaluation: whether the ranks can run together at all, and how a
// case ended that every rank has seen from its side. Pure functions; Rendezvous carries the texts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// How a rank introduces itself to the others, before any work.
struct RankHello {
  std::string refusal{};                     // why it cannot take part; empty: it can
  std::vector<std::string> arguments{};      // its command line
  std::optional<Environment> environment{};  // of its worker; absent: it has refused
};

[[nodiscard]] std::string to_text(const RankHello& hello);
/// @throws  std::runtime_error  for what another version of the program has written
[[nodiscard]] RankHello rank_hello_from(const std::string& text);

/// Why ranks must not run together: one has refused; another build, GPU or command line than rank 0 has; one GPU twice.
/// Nothing if they may.
/// @param ranks  in their order
[[nodiscard]] std::optional<std::string> disagreement(std::span<const RankHello> ranks);

/// The request of rank 0 to the others: to run the next case, or to end.
struct RankRequest {
  std::string name{};  // of the case; empty: the run is over
  bool needs_fresh{};  // in workers that have measured nothing before
  bool operator==(const RankRequest&) const = default;
};

[[nodiscard]] std::string to_text(const RankRequest& call);
[[nodiscard]] RankRequest rank_request_from(const std::string& text);

/// The label of a record whose case failed because another rank did not take part any more.
inline constexpr const char* kLostRanks = "lost_ranks";

/// The records that a rank has of a case, one per repetition; none if its worker was ended because of another rank.
[[nodiscard]] std::string to_text(std::span<const Record> records);
[[nodiscard]] std::vector<Record> records_from(const std::string& text, const std::string& name);

/// Merges the records that all ranks have of a case. If every rank has times, rank 0's records are returned, since all
/// ranks agree on the times. Otherwise the most severe ending decides, and the reason names the ranks that ended so:
/// crash, timeout, wrong results, out of memory, unsupported, loss of another rank, in this order.
/// @param ranks  in rank order, at least one
/// @return       empty if no rank knows a cause, because the user interrupted the run
[[nodiscard]] std::vector<Record> merge_ranks(std::span<const std::vector<Record>> ranks);

}  // namespace tbench::bench
