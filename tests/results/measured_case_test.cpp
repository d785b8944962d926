#include "tbench/results/measured_case.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::results {
namespace {

TEST(SamplesDigest, IsOfFiveDifferentSamplesAndMore) {
  EXPECT_FALSE(samples_digest({}).has_value());
  EXPECT_FALSE(samples_digest(std::vector<double>{1, 2, 3, 4, 4, 3, 2, 1}).has_value());
  EXPECT_TRUE(samples_digest(std::vector<double>{1, 2, 3, 4, 4, 5}).has_value());
  EXPECT_TRUE(measured_case(support::full_record()).replicates.front().samples_digest.has_value());
}

TEST(SamplesDigest, DiffersByValueOrderAndNumber) {
  const std::vector<double> samples{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  EXPECT_EQ(samples_digest(samples), samples_digest(std::vector<double>(samples)));
  std::set<std::uint64_t> digests{samples_digest(samples).value()};
  std::mt19937_64 random{7};
  for (int i = 0; i < 1'000; ++i) {
    std::vector<double> changed = samples;
    changed.at(random() % changed.size()) += 1e-16 * static_cast<double>(1 + random() % 1'000'000);
    if (changed != samples) digests.insert(samples_digest(changed).value());
  }
  EXPECT_GT(digests.size(), 980U) << "some of the thousand are equal, or rounded away";
  EXPECT_NE(samples_digest(samples), samples_digest(std::vector<double>(samples.rbegin(), samples.rend())));
  EXPECT_NE(samples_digest(samples), samples_digest(std::vector<double>(samples.begin(), samples.end() - 1)));
}

}  // namespace
}  // namespace tbench::results
