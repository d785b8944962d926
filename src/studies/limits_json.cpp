// Writes the limits of traced steps as JSON, with one verdict on all of them.
#include <fmt/format.h>

#include <algorithm>

#include "tbench/results/conclusion.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/studies/limits.hpp"

namespace tbench::studies {

// The following structures are only written, never read. json_fields.hpp finds the functions by argument-dependent
// lookup.
static void fields(results::FieldWriter& out, const Limit& limit) {
  out.field("what", limit.what);
  out.field("by", limit.evidence);
  out.text_unless_empty("remedy", limit.remedy);
  out.field("at_most", limit.at_most);
}

struct LimitedCase {
  std::string name;
  Seconds median;
  std::vector<Limit> limits;
};
static void fields(results::FieldWriter& out, const LimitedCase& c) {
  out.field("name", c.name);
  out.field("median_s", c.median);
  out.field("limits", c.limits);
}

namespace {

std::vector<LimitedCase> limited_cases(std::span<const Record> records) {
  std::vector<LimitedCase> cases;
  for (const Record& record : records) {
    if (record.trace && record.timing) cases.push_back({record.id.name(), record.timing->median, limits_of(record)});
  }
  return cases;
}

const Limit* find(const LimitedCase& c, const std::string& what) {
  const auto found = std::ranges::find(c.limits, what, &Limit::what);
  return found == c.limits.end() ? nullptr : &*found;
}

std::string sentence(const LimitedCase& c, const Limit& limit) {
  const std::string bound = limit.at_most ? fmt::format("; at most {:.2f}x {}", *limit.at_most, limit.remedy) : "";
  return fmt::format("{}: {}: {}{}", c.name, limit.what, limit.evidence, bound);
}

/// Returns the command that shows the given table of the case's profile.
std::string profile_with(const results::RunFlags& run, const LimitedCase& c, const char* table) {
  return fmt::format("{} --table={}", results::profile_command("transformer_bench", run, c.name), table);
}

/// @param cases  not empty
results::Conclusion conclusion_of(const std::vector<LimitedCase>& cases, const results::RunFlags& run) {
  for (const auto& [verdict, what] : {std::pair{"HOST", "host"}, std::pair{"LAUNCHES", "launches"}}) {
    std::vector<std::string> why;
    const LimitedCase* slowest = nullptr;
    for (const LimitedCase& c : cases) {
      const Limit* const limit = find(c, what);
      if (limit == nullptr) continue;
      why.push_back(sentence(c, *limit));
      if (slowest == nullptr || slowest->median < c.median) slowest = &c;
    }
    if (slowest == nullptr) continue;
    why.insert(why.begin(), fmt::format("{} of {} traced cases are limited by: {}", why.size(), cases.size(), what));
    return {.outcome = verdict, .why = std::move(why), .next = profile_with(run, *slowest, "launches")};
  }
  const LimitedCase& slowest =
      *std::ranges::max_element(cases, {}, [](const LimitedCase& c) { return c.median.value; });
  std::vector<std::string> why{
      fmt::format("the GPU's own work limits every case that was traced: {} of them", cases.size())};
  for (const Limit& limit : slowest.limits) why.push_back(sentence(slowest, limit));
  return {.outcome = "DEVICE", .why = std::move(why), .next = profile_with(run, slowest, "top_kernels")};
}

}  // namespace

std::string limits_json(std::span<const Record> records, const results::RunFlags& run) {
  const std::vector<LimitedCase> cases = limited_cases(records);
  results::FieldWriter out{"limits"};
  out.field("cases", cases);
  return results::pretty(results::concluded("limits", conclusion_of(cases, run), std::move(out).take()));
}

}  // namespace tbench::studies
