// Tests three records of each schema version that has files: tests/data/versions.
#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

struct Version {
  int number;
  /// The `mfu` of each record in its file; 0 if absent.
  std::vector<double> shares;
};

std::string path_of(int version) { return TBENCH_TEST_DATA "/versions/v" + std::to_string(version) + ".json.gz"; }

double counter_or_zero(const Record& record, const std::string& name) {
  const auto counters = counters_of(record);
  const auto found = counters.find(name);
  return found == counters.end() ? 0.0 : found->second;
}

class Versions : public testing::TestWithParam<Version> {};

TEST_P(Versions, AreReadByTheirNewNames) {
  const ResultFile file = read_result_file(path_of(GetParam().number));
  ASSERT_EQ(file.records.size(), GetParam().shares.size());
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    const Record& record = file.records[i];
    const double share = GetParam().shares[i];
    EXPECT_DOUBLE_EQ(counter_or_zero(record, "peak_share_at_clock"), share) << record.id.name();
    EXPECT_EQ(counter_or_zero(record, "mfu") > 0, share > 0) << record.id.name();
    EXPECT_LE(counter_or_zero(record, "mfu"), counter_or_zero(record, "hfu")) << record.id.name();
  }
}

TEST_P(Versions, AreWrittenInThisOne) {
  const ResultFile file = read_result_file(path_of(GetParam().number));
  EXPECT_EQ(result_file_from_json(result_file_to_json(file)), file);
}

INSTANTIATE_TEST_SUITE_P(OfTheSchema, Versions,
                         testing::Values(Version{1, {0.5192642497435591, 0.5973940241279075, 0.7175656388571136}},
                                         Version{3, {0.7889083498263121, 0.0, 0.0}},
                                         Version{4, {0.0, 0.1270513811221609, 0.32811831358710675}},
                                         Version{7, {0.8845503772983725, 0.0, 0.0}},
                                         Version{8, {0.7777613570305895, 0.0, 0.0}},
                                         Version{9, {0.9780297394019323, 0.04058180633639741, 0.013609960672664444}},
                                         Version{10, {0.7785663845251078, 0.39332843061735895, 0.35249981645210215}}),
                         [](const auto& version) { return "Version" + std::to_string(version.param.number); });

}  // namespace
}  // namespace tbench::results
