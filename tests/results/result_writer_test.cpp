// Tests the files on the disk at every moment of a run, and how a run is resumed.
#include "tbench/results/result_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/file_size_limit.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::results {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ResultFile empty_run() {
  ResultFile file = support::golden_file();
  file.records.clear();
  file.interrupted = false;
  return file;
}

std::vector<Record> numbered_records(std::int64_t count) {
  std::vector<Record> records;
  for (std::int64_t i = 0; i < count; ++i) records.push_back(support::numbered_record(i));
  return records;
}

template <class Call>
std::string usage_error(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

class ResultWriterTest : public testing::Test {
 protected:
  /// Leaves file and journal as a killed run does if only the first record is in the file.
  void leave_killed_run(std::int64_t records) {
    const std::string elsewhere = folder_.file("elsewhere.json");
    ResultWriter writer{elsewhere, empty_run(), 1h};
    for (std::int64_t i = 0; i < records; ++i) writer.add(support::numbered_record(i));
    fs::copy_file(elsewhere, path_, fs::copy_options::overwrite_existing);
    fs::copy_file(elsewhere + ".journal", journal_, fs::copy_options::overwrite_existing);
    writer.finish();
    fs::remove(elsewhere);
  }

  support::TemporaryFolder folder_;
  std::string path_ = folder_.file("results.json");
  std::string journal_ = path_ + ".journal";
};

TEST_F(ResultWriterTest, EveryRecordIsOnTheDiskWhenAddReturns) {
  ResultWriter writer{path_, empty_run(), 1h};
  for (std::int64_t i = 0; i < 20; ++i) {
    writer.add(support::numbered_record(i));
    ASSERT_EQ(load_for_resume(path_)->records, numbered_records(i + 1));
  }
  EXPECT_EQ(read_result_file(path_).records, numbered_records(1)) << "the interval has not passed";
}

TEST_F(ResultWriterTest, TheFileIsRewrittenWhenTheIntervalHasPassed) {
  ResultWriter writer{path_, empty_run(), 0s};
  for (std::int64_t i = 0; i < 5; ++i) {
    writer.add(support::numbered_record(i));
    ASSERT_EQ(read_result_file(path_).records, numbered_records(i + 1));
  }
}

TEST_F(ResultWriterTest, FinishLeavesTheFileAlone) {
  ResultWriter writer{path_, empty_run(), 1h};
  for (std::int64_t i = 0; i < 5; ++i) writer.add(support::numbered_record(i));
  writer.set_interrupted();
  writer.finish();
  EXPECT_THAT(folder_.names(), ElementsAre("results.json"));
  EXPECT_EQ(read_result_file(path_).records, numbered_records(5));
  EXPECT_TRUE(read_result_file(path_).interrupted);
}

TEST_F(ResultWriterTest, FinishWithoutRecordsWritesAnEmptyFile) {
  ResultWriter writer{path_, empty_run()};
  writer.finish();
  EXPECT_EQ(read_result_file(path_), empty_run());
}

TEST_F(ResultWriterTest, TheDestructorWritesWhatTheFileLacks) {
  {
    ResultWriter writer{path_, empty_run(), 1h};
    for (std::int64_t i = 0; i < 5; ++i) writer.add(support::numbered_record(i));
  }
  EXPECT_EQ(read_result_file(path_).records, numbered_records(5));
}

TEST_F(ResultWriterTest, ARunAfreshTouchesNothingBeforeItsFirstRecordAndThenReplacesAll) {
  leave_killed_run(4);
  const std::string before = read_whole_file(path_);
  ResultWriter writer{path_, empty_run(), 1h};
  EXPECT_EQ(read_whole_file(path_), before);
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(4));
  writer.add(support::numbered_record(9));
  EXPECT_THAT(load_for_resume(path_)->records, ElementsAre(support::numbered_record(9)));
}

TEST_F(ResultWriterTest, TheFileIsNotReplacedWhileAJournalOfAnotherRunIsBesideIt) {
  leave_killed_run(1);
  const std::string before = read_whole_file(path_);
  fs::remove(journal_);
  fs::create_directories(journal_);
  EXPECT_THAT(usage_error([&] {
                ResultWriter{path_, empty_run(), 1h}.add(support::numbered_record(9));
              }),
              AllOf(HasSubstr(journal_), HasSubstr("Is a directory")));
  EXPECT_EQ(read_whole_file(path_), before);
}

TEST_F(ResultWriterTest, ResumeKeepsWhatFileAndJournalHold) {
  leave_killed_run(4);
  {
    ResultWriter writer{path_, load_for_resume(path_).value(), 1h};
    for (std::int64_t i = 4; i < 8; ++i) {
      writer.add(support::numbered_record(i));
      ASSERT_EQ(load_for_resume(path_)->records, numbered_records(i + 1));
    }
    writer.finish();
  }
  EXPECT_EQ(read_result_file(path_).records, numbered_records(8));
}

TEST_F(ResultWriterTest, ALaterRecordOfTheSameCaseAndRepetitionReplacesTheEarlier) {
  const CaseId id = support::model_id("forward", "eager");
  Record again = support::timed_record(id, Seconds{0.5});
  Record second = support::timed_record(id, Seconds{0.25});
  second.repetition_index = 1;
  again.repetitions = second.repetitions = 2;
  {
    ResultWriter writer{path_, empty_run(), 1h};
    writer.add(support::failed_record(id, Status::kTimeout, "slow"));
    writer.add(second);
    writer.add(support::numbered_record(1));
    writer.add(again);
    EXPECT_THAT(load_for_resume(path_)->records, ElementsAre(again, second, support::numbered_record(1)));
    writer.finish();
  }
  EXPECT_THAT(read_result_file(path_).records, ElementsAre(again, second, support::numbered_record(1)));
}

TEST_F(ResultWriterTest, ARecordThatCannotBeWrittenIsLeftOut) {
  ResultWriter writer{path_, empty_run(), 1h};
  Record bad = support::numbered_record(0);
  bad.harness = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(writer.add(bad), std::invalid_argument);
  EXPECT_THAT(folder_.names(), ElementsAre("results.json.journal"));
  EXPECT_FALSE(has_journal(path_));
  writer.add(support::numbered_record(0));
  bad.id = support::numbered_record(1).id;
  EXPECT_THROW(writer.add(bad), std::invalid_argument);
  Record hidden = support::numbered_record(1);
  hidden.counters["real_time"] = 1;
  EXPECT_THROW(writer.add(hidden), std::invalid_argument);
  writer.add(support::numbered_record(1));
  writer.finish();
  EXPECT_EQ(read_result_file(path_).records, numbered_records(2));
}

TEST_F(ResultWriterTest, ThereIsNothingToResumeWithoutFiles) { EXPECT_EQ(load_for_resume(path_), std::nullopt); }

TEST_F(ResultWriterTest, AJournalAloneIsEnoughToResume) {
  leave_killed_run(4);
  fs::remove(path_);
  // The first record was written to the file before there was a journal.
  EXPECT_THAT(load_for_resume(path_)->records,
              ElementsAre(support::numbered_record(1), support::numbered_record(2), support::numbered_record(3)));
  EXPECT_EQ(load_for_resume(path_)->environment, support::golden_file().environment);
}

TEST_F(ResultWriterTest, ATornLastLineIsIgnoredWhereverItWasCut) {
  leave_killed_run(4);
  const std::string whole = read_whole_file(journal_);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = last; size < whole.size(); size += 37) {
    support::write_text(journal_, whole.substr(0, size));
    EXPECT_EQ(load_for_resume(path_)->records, numbered_records(3)) << size << " of " << whole.size();
  }
  support::write_text(journal_, whole.substr(0, last + 20) + "\n");
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(3)) << "torn, and ended by a newline";
  support::write_text(journal_, whole.substr(0, 20));
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(1)) << "the header itself is torn";
  support::write_text(journal_, "");
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(1));
}

TEST_F(ResultWriterTest, AnyOtherTornLineIsAnError) {
  leave_killed_run(4);
  const std::string whole = read_whole_file(journal_);
  const std::size_t second = whole.find('\n') + 1;
  const std::size_t third = whole.find('\n', second) + 1;
  support::write_text(journal_, whole.substr(0, third - 10) + "\n" + whole.substr(third));
  EXPECT_THAT(usage_error([&] { static_cast<void>(load_for_resume(path_)); }),
              AllOf(HasSubstr(journal_), HasSubstr("line 2 is torn"), HasSubstr("remove it")));
}

TEST_F(ResultWriterTest, AJournalLineThatWasChangedIsAnError) {
  leave_killed_run(3);
  const std::string text = read_whole_file(journal_);
  const auto error_with = [&](const std::string& from, const std::string& to, std::size_t begin) {
    std::string changed = text;
    support::write_text(journal_, changed.replace(text.find(from, begin), from.size(), to));
    return usage_error([&] { static_cast<void>(load_for_resume(path_)); });
  };
  const std::size_t last_line = text.rfind('\n', text.size() - 2);
  EXPECT_THAT(error_with(R"("median_s":0.002)", R"("median_s":0.003)", 0),
              AllOf(HasSubstr(journal_), HasSubstr("line 2 was changed after it was written"), HasSubstr("remove it")));
  EXPECT_THAT(error_with(R"("median_s":0.003)", R"("median_s":0.002)", last_line), HasSubstr("line 3 was changed"));
  EXPECT_THAT(error_with("NVIDIA H200", "NVIDIA H201", 0), HasSubstr("line 1 was changed"));
  EXPECT_EQ(read_whole_file(path_).empty(), false);
}

TEST_F(ResultWriterTest, AJournalOfAnEarlierVersionHasNoChecksums) {
  leave_killed_run(3);
  const std::string text = std::regex_replace(read_whole_file(journal_), std::regex{" #[0-9a-f]{8}\n"}, "\n");
  support::write_text(journal_, text);
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(3));
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    support::write_text(journal_, changed.replace(text.find(from), from.size(), to));
    return usage_error([&] { static_cast<void>(load_for_resume(path_)); });
  };
  EXPECT_THAT(error_with(R"("status":"ok")", R"("status":"no")"),
              AllOf(HasSubstr(journal_), HasSubstr("line 2.status: unknown value 'no'")));
  EXPECT_THAT(error_with(R"("median_s":0.002)", R"("median_s":0.003)"),
              AllOf(HasSubstr(journal_), HasSubstr("line 2: Series/number:1 breaks the rule 'statistics'")));
  EXPECT_THAT(error_with(R"("parameters":{)", R"("parameters":)" + std::string(100'000, '[')),
              AllOf(HasSubstr(journal_), HasSubstr("nested more than 64 levels deep")));
}

TEST_F(ResultWriterTest, AReasonThatSaysNothingOrTooMuchIsMended) {
  const CaseId id = support::model_id("forward", "eager");
  ResultWriter writer{path_, empty_run(), 1h};
  writer.add(support::failed_record(id, Status::kCrashed, ""));
  EXPECT_EQ(load_for_resume(path_)->records.at(0).reason, "no reason was given");
  for (const std::string& byte : {std::string{"x"}, std::string{"\u00b5"}, std::string{"\xFF"}}) {
    std::string reason;
    while (reason.size() < 20'000) reason += byte;
    writer.add(support::failed_record(id, Status::kCrashed, reason));
    const std::string kept = load_for_resume(path_)->records.at(0).reason;
    EXPECT_LE(kept.size(), kMaxReason);
    EXPECT_GT(kept.size(), kMaxReason - 4);
    EXPECT_THAT(kept, testing::EndsWith(" ... (cut)"));
  }
  writer.finish();
  EXPECT_NO_THROW(static_cast<void>(read_result_file(path_)));
}

TEST_F(ResultWriterTest, AJournalOfAnotherRunIsAnError) {
  leave_killed_run(3);
  ResultFile other = empty_run();
  other.environment.gpu->name = "NVIDIA B200";
  write_result_file(path_, other);
  EXPECT_THAT(usage_error([&] { static_cast<void>(load_for_resume(path_)); }),
              AllOf(HasSubstr(journal_), HasSubstr("another run"), HasSubstr("B200")));
}

TEST(CheckResumable, RefusesAnotherGpuModelOrBuildWithAReason) {
  const ResultFile earlier = support::golden_file();
  Environment now = support::gpu_environment();
  now.date = "2026-02-03T00:00:00+00:00";
  now.gpu->uuid = "GPU-1";
  EXPECT_EQ(usage_error([&] { check_resumable("a.json", earlier, now); }), "no error");
  now.gpu->name = "NVIDIA B200";
  EXPECT_THAT(usage_error([&] { check_resumable("a.json", earlier, now); }),
              AllOf(HasSubstr("--tb_resume"), HasSubstr("a.json"), HasSubstr("B200"), HasSubstr("--benchmark_out")));
  now = support::gpu_environment();
  now.sources_digest = "0000";
  EXPECT_THAT(usage_error([&] { check_resumable("a.json", earlier, now); }), HasSubstr("build"));
}

TEST_F(ResultWriterTest, CheckWritableChangesNothing) {
  EXPECT_NO_THROW(ResultWriter::check_writable(path_));
  EXPECT_THAT(folder_.names(), IsEmpty());
  support::write_text(path_, "precious");
  EXPECT_NO_THROW(ResultWriter::check_writable(path_));
  EXPECT_EQ(read_whole_file(path_), "precious");
  EXPECT_THAT(folder_.names(), ElementsAre("results.json"));
}

TEST_F(ResultWriterTest, CheckWritableTakesANameWithoutAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_NO_THROW(ResultWriter::check_writable("results.json"));
  ResultWriter writer{"results.json", empty_run()};
  writer.add(support::numbered_record(0));
  writer.finish();
  fs::current_path(before);
  EXPECT_EQ(read_result_file(path_).records, numbered_records(1));
}

TEST_F(ResultWriterTest, CheckWritableSaysWhyNot) {
  const auto error = [](const std::string& path) { return usage_error([&] { ResultWriter::check_writable(path); }); };
  EXPECT_THAT(error(""), HasSubstr("the name is empty"));
  EXPECT_THAT(error(folder_.path()), AllOf(HasSubstr(folder_.path()), HasSubstr("it is a folder")));
  EXPECT_THAT(error(folder_.file("none/a.json")), AllOf(HasSubstr("there is no folder"), HasSubstr("/none'")));
  support::write_text(path_, "a file");
  EXPECT_THAT(error(path_ + "/a.json"), HasSubstr("there is no folder"));
  EXPECT_THAT(error("/dev/null"), HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT(error("/proc/results.json"), HasSubstr("cannot write results")) << "a file system that takes no files";
  const support::FileSizeLimit limit{1000};
  EXPECT_THAT(error(folder_.file("b.json")), AllOf(HasSubstr("File too large"), HasSubstr("ulimit -f")));
}

TEST_F(ResultWriterTest, AFullDiskIsSaidOnceAndLosesNothing) {
  testing::internal::CaptureStderr();
  {
    std::optional<support::FileSizeLimit> limit;
    ResultWriter writer{path_, empty_run(), 1h};
    for (std::int64_t i = 0; i < 2; ++i) writer.add(support::numbered_record(i));
    limit.emplace(fs::file_size(journal_) + 10);
    EXPECT_THROW(writer.add(support::numbered_record(2)), WriteError);
    limit.emplace(100);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the caller says what was thrown";
  EXPECT_EQ(load_for_resume(path_)->records, numbered_records(2));
  EXPECT_THAT(folder_.names(), ElementsAre("results.json", "results.json.journal"));
}

/// Permissions do not restrict root. While this object lives, root acts as the user `nobody`, who owns `paths`.
class OrdinaryUser {
 public:
  explicit OrdinaryUser(const std::vector<std::string>& paths) {
    constexpr uid_t kNobody = 65534;
    if (!was_root_) return;
    for (const std::string& path : paths) EXPECT_EQ(::chown(path.c_str(), kNobody, kNobody), 0) << path;
    EXPECT_EQ(::setresuid(kNobody, kNobody, 0), 0);
  }
  ~OrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::setresuid(0, 0, 0), 0);
    }
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool was_root_ = ::geteuid() == 0;
};

TEST_F(ResultWriterTest, CheckWritableSeesPermissions) {
  const auto error = [](const std::string& path) { return usage_error([&] { ResultWriter::check_writable(path); }); };
  support::write_text(path_, "x");
  const OrdinaryUser ordinary{{path_, folder_.path()}};
  EXPECT_NO_THROW(ResultWriter::check_writable(path_)) << "of a folder that is the user's";
  fs::permissions(path_, fs::perms::owner_read);
  EXPECT_THAT(error(path_), HasSubstr("Permission denied"));
  fs::remove(path_);
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error(path_), HasSubstr("Permission denied"));
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace tbench::results
