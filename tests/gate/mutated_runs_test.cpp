// Tests that no mutation of a nightly run improves its outcome.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "expected_outcome.hpp"
#include "support/long_tests.hpp"

namespace tbench::gate {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// Keeps a third of a run's cases and ceilings, because a test evaluates thousands of mutations.
template <class Run>
Run thinned(Run run) {
  run.cases.erase(run.cases.begin() + 16, run.cases.begin() + kNightCases);
  run.cases.erase(run.cases.begin() + 16 + 6, run.cases.end());
  return run;
}

/// Deletes, edits or repeats a random record of the run. None of these mutations makes a slow record fast.
void mutate(history::MeasuredRun& run, std::mt19937_64& random) {
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>{0, count - 1}(random);
  };
  results::MeasuredCase& c = run.cases[below(run.cases.size())];
  const std::size_t process = below(c.replicates.size());
  results::Replicate& record = c.replicates[process];
  switch (below(8)) {
    case 0:
      c.replicates.erase(c.replicates.begin() + static_cast<std::ptrdiff_t>(process));
      if (c.replicates.empty()) std::erase_if(run.cases, [&](const results::MeasuredCase& x) { return &x == &c; });
      break;
    case 1:
      c.replicates.push_back(record);
      break;
    case 2:
      record = support::failed_replicate(Status::kCrashed, "edited");
      break;
    case 3:
      record = support::failed_replicate(Status::kIncorrect, "edited");
      break;
    case 4:
      if (record.time) record.time->value *= 1.5;
      break;
    case 5:
      record = run.cases[below(run.cases.size())].replicates.front();
      break;
    case 6:
      record.peak_share_at_clock = 3;
      break;
    default:
      c.id = CaseId{"Edited", {{"n", "1"}}};
      c.key = results::match_key(c.id);
  }
}

TEST(TableOfNights, NoMutationOfARecordImprovesANight) {
  std::vector<history::PastRun> past = healthy_nights(8);
  for (history::PastRun& earlier : past) earlier.run = thinned(earlier.run);
  std::vector<history::MeasuredRun> nights(4, healthy_night(8));
  change_cases(nights[1], first, [](results::Replicate& r, std::size_t) { r.time->value *= 1.08; });
  change_cases(nights[2], first, [](results::Replicate& r, std::size_t) { r.status = Status::kIncorrect; });
  for (history::MeasuredRun& night : nights) {
    night = thinned(night);
    std::erase_if(night.planned, [&](const auto& planned) {
      return std::ranges::find(night.cases, planned.first, &results::MeasuredCase::key) == night.cases.end();
    });
  }
  nights[3].cases.erase(nights[3].cases.begin());
  std::mt19937_64 random{42};
  const int mutations = kIsSanitized && !support::are_tests_long() ? 500 : 10'000;
  std::vector<GateReport> originals;
  for (const history::MeasuredRun& night : nights) originals.push_back(judge_night(past, night));
  GateOptions options;
  options.night = facts_after(past, nights[0]);
  const AaControlSides control = sound_control();
  for (int i = 0; i < mutations; ++i) {
    const std::size_t which = static_cast<std::size_t>(i) % nights.size();
    history::MeasuredRun run = nights[which];
    mutate(run, random);
    const GateReport report = judge_run(past, run, control, options);
    ASSERT_GE(headline_of(report), headline_of(originals[which])) << i;
    ASSERT_LE(is_good(report), is_good(originals[which])) << i;
    ASSERT_LE(baseline_of(report), baseline_of(originals[which])) << i;
  }
}

}  // namespace
}  // namespace tbench::gate
