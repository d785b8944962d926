// Tests that a file given twice, or a part of it in another file, does not count as a second process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Copies : public testing::Test {
 protected:
  /// Writes a file of one process.
  std::string file(const std::string& name, std::vector<Record> records) {
    results::ResultFile results = support::golden_file();
    results.records = std::move(records);
    results::write_result_file(folder_.file(name), results);
    return folder_.file(name);
  }
  static Record scaled(Record record, double factor) {
    support::scale_samples(*record.timing, factor);
    return record;
  }
  static Record other_case(Record record) {
    record.id = CaseId{"Other", {{"a", "1"}}};
    return record;
  }

  support::TemporaryFolder folder_;
  Record record_ = support::full_record();
};

TEST_F(Copies, OfOneFileAreRefusedWithBothNames) {
  const std::string a = file("a.json", {record_});
  const std::string copy = file("copy.json", {other_case(scaled(record_, 2)), record_});
  EXPECT_THAT(
      [&] {
        refuse_copies(read_sides(std::vector{a, file("b.json", {scaled(record_, 1.01)}), copy}));
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("a.json' and '"), HasSubstr("copy.json' hold the same samples of"),
                                      HasSubstr(record_.id.name()), HasSubstr("give each file once"))));
  EXPECT_THROW(refuse_copies(read_sides(std::vector{a, a})), UsageError);
}

TEST_F(Copies, AreNotOtherProcessesNorOtherCases) {
  const std::vector<std::string> paths{file("a.json", {record_}), file("b.json", {scaled(record_, 1 + 1e-9)}),
                                       file("c.json", {other_case(record_)}),
                                       file("d.json", {support::timed_record(record_.id, Seconds{0.1})}),
                                       file("e.json", {support::timed_record(record_.id, Seconds{0.1})})};
  EXPECT_NO_THROW(refuse_copies(read_sides(paths))) << "d and e have too few different samples to tell";
}

TEST_F(Copies, InsideAFileAreRefusedByTheReader) {
  Record again = record_;
  again.repetitions = 2;
  again.repetition_index = 1;
  Record first = again;
  first.repetition_index = 0;
  EXPECT_THAT(
      [&] {
        static_cast<void>(read_side(file("a.json", {first, again})));
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("benchmarks[1]"), HasSubstr("'copy'"), HasSubstr("benchmarks[0]"))));
  EXPECT_THAT(
      [&] {
        static_cast<void>(read_side(file("a.json", {record_, scaled(record_, 1.01)})));
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("benchmarks[1]"), HasSubstr("'once'"), HasSubstr("benchmarks[0]"))));
}

}  // namespace
}  // namespace tbench::compare
