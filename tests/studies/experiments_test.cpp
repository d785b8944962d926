#include "tbench/studies/experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<results::Experiment> experiments() {
  const results::Experiment tiles{.date = "2026-11-23",
                                  .commit = "6fca79a",
                                  .gpu = "H100",
                                  .kernel = "attention_fwd_sm90_kernel",
                                  .change = "larger tiles",
                                  .shape = "seq_len:64",
                                  .before = Seconds{10e-6},
                                  .after = Seconds{5e-6},
                                  .was_kept = true,
                                  .reason = "fewer loads"};
  results::Experiment longer = tiles;
  longer.shape = "seq_len:128";
  longer.after = Seconds{20e-6};
  longer.was_kept = false;
  results::Experiment later = tiles;
  later.date = "2026-11-25";
  later.kernel = "rmsnorm_kernel";
  later.change = "two rows";
  later.before.reset();
  later.was_kept = false;
  results::Experiment library = later;
  library.kernel = "";
  library.change = "sdpa_cudnn";
  library.was_kept.reset();
  return {tiles, longer, later, library};
}

TEST(ExperimentsText, AnswersFirstAndHasTheLatestChangeOnTop) {
  const std::string text = experiments_text(experiments(), {});
  EXPECT_THAT(text, StartsWith("3 experiments with 2 kernels, 2026-11-23 to 2026-11-25: 1 kept, 1 rejected, 1 times"));
  EXPECT_LT(text.find("two rows"), text.find("larger tiles"));
  EXPECT_THAT(text,
              HasSubstr("2026-11-23  H100  kept 1 of 2   attention_fwd_sm90_kernel: larger tiles\n"
                        "                                1.00 (0.50 to 2.00) of the time in 2 shapes. fewer loads\n"));
}

TEST(ExperimentsText, ShowsWhatTheFilterSelectsAsMarkdownToo) {
  const std::string text = experiments_text(experiments(), {.filter = "rmsnorm.*rows", .markdown = true});
  EXPECT_THAT(text, AllOf(HasSubstr("| 2026-11-25 | H100 | rmsnorm"), Not(HasSubstr("larger tiles"))));
  try {
    static_cast<void>(experiments_text(experiments(), {.filter = "nothing"}));
    FAIL() << "nothing is selected";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--filter=nothing: matches no `kernel: change` of 4 experiments"));
  }
}

}  // namespace
}  // namespace tbench::studies
