// Files are replaced as a whole, and lines are there when append returns.
#include "tbench/report/durable_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

#include "sample_results.hpp"

namespace tbench::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// Makes writes beyond `bytes` of a file fail, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(WriteAtomically, MakesAndReplacesAFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "first, and longer");
  write_atomically(folder.file("a"), std::string{"second\0x", 8});
  EXPECT_EQ(read_whole_file(folder.file("a")), (std::string{"second\0x", 8}));
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteAtomically, LeavesTheOldFileWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "old");
  {
    const FileSizeLimit limit{1000};
    EXPECT_THROW(write_atomically(folder.file("a"), std::string(5000, 'x')), std::system_error);
  }
  EXPECT_EQ(read_whole_file(folder.file("a")), "old");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteAtomically, KeepsASymbolicLink) {
  const TemporaryFolder folder;
  write_atomically(folder.file("target"), "old");
  fs::create_symlink(folder.file("target"), folder.file("link"));
  write_atomically(folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_whole_file(folder.file("target")), "new");
}

TEST(WriteAtomically, IsReadableByOthersAsTheUmaskSays) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write_atomically(folder.file("a"), "x");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.file("a")).permissions(), fs::perms{0644});
}

TEST(WriteAtomically, NamesThePathThatItCannotWrite) {
  const TemporaryFolder folder;
  try {
    write_atomically(folder.file("missing/a"), "x");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/a"));
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(ReadWholeFile, ReadsMoreThanOneBlock) {
  const TemporaryFolder folder;
  const std::string content(3'000'001, 'y');
  write_text(folder.file("a"), content);
  EXPECT_EQ(read_whole_file(folder.file("a")), content);
  EXPECT_THROW(static_cast<void>(read_whole_file(folder.file("b"))), std::system_error);
  EXPECT_THROW(static_cast<void>(read_whole_file(folder.path())), std::system_error);
}

TEST(LineAppender, AppendsLinesAfterEmptyingTheFile) {
  const TemporaryFolder folder;
  write_text(folder.file("a"), "of another run\n");
  LineAppender appender{folder.file("a")};
  EXPECT_EQ(read_whole_file(folder.file("a")), "");
  appender.append("one");
  appender.append("two");
  EXPECT_EQ(read_whole_file(folder.file("a")), "one\ntwo\n");
}

TEST(LineAppender, TakesATornLineBack) {
  const TemporaryFolder folder;
  LineAppender appender{folder.file("a")};
  appender.append("one");
  {
    const FileSizeLimit limit{100};
    EXPECT_THROW(appender.append(std::string(200, 'x')), std::system_error);
  }
  appender.append("two");
  EXPECT_EQ(read_whole_file(folder.file("a")), "one\ntwo\n");
}

}  // namespace
}  // namespace tbench::report
