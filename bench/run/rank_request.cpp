#include "bench/run/rank_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {
namespace {

using results::Json;

std::optional<std::string> other_arguments(const std::vector<std::string>& own, const std::vector<std::string>& first) {
  if (own == first) return std::nullopt;
  const auto [here, there] = std::ranges::mismatch(own, first);
  const auto word = [](auto position, const std::vector<std::string>& words) {
    return position == words.end() ? std::string{"nothing"} : fmt::format("'{}'", *position);
  };
  return fmt::format(
      "another command line: {} against {}; give every rank the same (rank 0 alone writes the results), or set "
      "WORLD_SIZE=1 where each is to run by itself",
      word(here, own), word(there, first));
}

std::optional<std::string> difference(const RankHello& rank, const RankHello& first) {
  if (const auto other = incompatibility(*rank.environment, *first.environment)) {
    return *other + "; start every rank with the same program, at most as many a host as it has GPUs, all of one model";
  }
  return other_arguments(rank.arguments, first.arguments);
}

/// Returns the error message if a rank has the same GPU as an earlier rank, or else nullopt. Two ranks on one GPU would
/// have to wait for each other. With --tb_anonymous the UUIDs are unknown, so nothing is checked.
std::optional<std::string> shared_gpu(std::span<const RankHello> ranks, std::size_t rank) {
  const std::optional<GpuFacts>& gpu = ranks[rank].environment->gpu;
  if (!gpu || gpu->uuid.empty()) return std::nullopt;
  for (std::size_t earlier = 0; earlier < rank; ++earlier) {
    if (ranks[earlier].environment->gpu->uuid != gpu->uuid) continue;
    return fmt::format("ranks {} and {} have the same GPU ({}); start at most as many ranks as GPUs", earlier, rank,
                       gpu->uuid);
  }
  return std::nullopt;
}

/// The ways in which a case can end on a rank. The first of them that occurred on any rank is the cause.
enum class Ending { kCrashed, kTimeout, kIncorrect, kOom, kUnsupported, kLostOthers, kTimed, kEndedForOthers };

Ending ending_of(const std::vector<Record>& records) {
  if (records.empty()) return Ending::kEndedForOthers;
  const Record& last = records.back();
  if (last.labels.contains(kLostRanks)) return Ending::kLostOthers;
  switch (last.status) {
    case Status::kCrashed:
      return Ending::kCrashed;
    case Status::kTimeout:
      return Ending::kTimeout;
    case Status::kIncorrect:
      return Ending::kIncorrect;
    case Status::kOom:
      return Ending::kOom;
    case Status::kUnsupported:
      return Ending::kUnsupported;
    case Status::kOk:
    case Status::kUnstable:
    case Status::kThrottled:
      return Ending::kTimed;
  }
  throw std::invalid_argument{"not a Status"};
}

/// Returns "ranks 0, 2: REASON; rank 1: ANOTHER", ordered by the first rank of each reason.
std::string reasons_by_rank(std::span<const std::vector<Record>> ranks, const std::vector<std::size_t>& ended) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> by_reason;
  for (const std::size_t rank : ended) {
    const std::string& reason = ranks[rank].back().reason;
    auto known = std::ranges::find(by_reason, reason, [](const auto& entry) { return entry.first; });
    if (known == by_reason.end()) known = by_reason.insert(known, {reason, {}});
    known->second.push_back(rank);
  }
  std::vector<std::string> parts;
  for (const auto& [reason, of] : by_reason) {
    parts.push_back(fmt::format("{} {}: {}", agreeing(of.size(), "rank", "ranks"), fmt::join(of, ", "), reason));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string to_text(const RankHello& hello) {
  Json json{{"refusal", hello.refusal}, {"arguments", hello.arguments}};
  if (hello.environment) json["environment"] = results::environment_to_json(*hello.environment);
  return results::compact(json);
}

RankHello rank_hello_from(const std::string& text) {
  const Json json = results::parse_json(text);
  results::FieldReader in{json, "a rank's introduction"};
  RankHello hello;
  in.field("refusal", hello.refusal);
  in.field("arguments", hello.arguments);
  if (const Json* environment = in.find("environment")) {
    hello.environment = results::environment_from_json(*environment, in.path("environment"));
  }
  return hello;
}

std::optional<std::string> disagreement(std::span<const RankHello> ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].refusal.empty()) return fmt::format("rank {}: {}", rank, ranks[rank].refusal);
  }
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    if (const auto what = difference(ranks[rank], ranks.front())) {
      return fmt::format("rank {} cannot run with rank 0: {}", rank, *what);
    }
    if (const auto what = shared_gpu(ranks, rank)) return what;
  }
  return std::nullopt;
}

std::string to_text(const RankRequest& call) {
  return results::compact(Json{{"name", call.name}, {"needs_fresh", call.needs_fresh}});
}

RankRequest rank_request_from(const std::string& text) {
  const Json json = results::parse_json(text);
  results::FieldReader in{json, "a call of rank 0"};
  RankRequest call;
  in.field("name", call.name);
  in.field("needs_fresh", call.needs_fresh);
  return call;
}

std::string to_text(std::span<const Record> records) {
  Json json = Json::array();
  for (const Record& record : records) json.push_back(results::record_to_json(record));
  return results::compact(json);
}

std::vector<Record> records_from(const std::string& text, const std::string& name) {
  std::vector<Record> records;
  for (const Json& json : results::parse_json(text)) records.push_back(results::record_from_json(json, name));
  return records;
}

std::vector<Record> merge_ranks(std::span<const std::vector<Record>> ranks) {
  const auto cause = std::ranges::min_element(ranks, {}, &ending_of);
  const Ending ending = ending_of(*cause);
  if (ending == Ending::kEndedForOthers) return {};
  if (ending == Ending::kTimed) {
    const bool all_have_times =
        std::ranges::all_of(ranks, [](const auto& r) { return ending_of(r) == Ending::kTimed; });
    return all_have_times ? ranks.front() : std::vector<Record>{};
  }
  std::vector<std::size_t> alike;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ending_of(ranks[rank]) == ending) alike.push_back(rank);
  }
  std::vector<Record> merged = *cause;
  Record& last = merged.back();
  last.labels.erase(kLostRanks);
  const bool is_everyones = alike.size() == ranks.size() && ending == Ending::kUnsupported;
  if (!is_everyones) last.reason = reasons_by_rank(ranks, alike);
  return merged;
}

}  // namespace tbench::bench
