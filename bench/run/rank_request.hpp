// The messages between the ranks of a run, and their evaluation: whether the ranks can run together, and how a case
// ended in view of every rank's records. All are pure functions; Rendezvous transports the texts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// A rank's introduction to the others, before any work.
struct RankHello {
  std::string refusal{};                     // why this rank cannot take part; empty if it can
  std::vector<std::string> arguments{};      // command line
  std::optional<Environment> environment{};  // environment of its worker; absent if it has refused
};

[[nodiscard]] std::string to_text(const RankHello& hello);
/// Parses the text of an introduction.
/// @throws  std::runtime_error  for a text that another version of the program has written
[[nodiscard]] RankHello rank_hello_from(const std::string& text);

/// Returns why the ranks must not run together: a rank has refused, differs from rank 0 in build, GPU or command line,
/// or shares a GPU with another rank. Returns nullopt if they may.
/// @param ranks  introductions in rank order
[[nodiscard]] std::optional<std::string> disagreement(std::span<const RankHello> ranks);

/// The request of rank 0 to the others: to run the next case, or to end.
struct RankRequest {
  std::string name{};  // name of the case; empty if the run is over
  bool needs_fresh{};  // whether it needs workers that have measured nothing before
  bool operator==(const RankRequest&) const = default;
};

[[nodiscard]] std::string to_text(const RankRequest& call);
[[nodiscard]] RankRequest rank_request_from(const std::string& text);

/// The label of a record whose case failed because another rank no longer took part.
inline constexpr const char* kLostRanks = "lost_ranks";

/// Converts a rank's records of a case, one per repetition, to text; no records if its worker was ended because of
/// another rank.
[[nodiscard]] std::string to_text(std::span<const Record> records);
[[nodiscard]] std::vector<Record> records_from(const std::string& text, const std::string& name);

/// Merges the records that all ranks have of a case. If every rank has times, rank 0's records are returned, since all
/// ranks agree on the times. If a rank has none, the most severe ending decides, and the reason names the ranks with
/// that ending. From the most severe to the least, the endings are: crash, timeout, wrong results, out of memory,
/// unsupported, and loss of another rank.
/// @param ranks  in rank order, at least one
/// @return       empty if no rank knows a cause, because the user interrupted the run
[[nodiscard]] std::vector<Record> merge_ranks(std::span<const std::vector<Record>> ranks);

}  // namespace tbench::bench
