// Tests that files are replaced as a whole, that lines are on the disk when append() returns, and that packed files are
// unpacked unchanged.
#include "tbench/results/durable_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "results/disk/replacement_file.hpp"
#include "support/file_size_limit.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(WriteAtomically, MakesAndReplacesAFileAndLeavesNothingElse) {
  const support::TemporaryFolder folder;
  write_atomically(folder.file("a"), "first, and longer");
  write_atomically(folder.file("a"), std::string{"second\0x", 8});
  EXPECT_EQ(read_whole_file(folder.file("a")), (std::string{"second\0x", 8}));
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteAtomically, LeavesTheOldFileWhereTheDiskIsFull) {
  const support::TemporaryFolder folder;
  write_atomically(folder.file("a"), "old");
  {
    const support::FileSizeLimit limit{1000};
    EXPECT_THROW(write_atomically(folder.file("a"), std::string(5000, 'x')), std::system_error);
  }
  EXPECT_EQ(read_whole_file(folder.file("a")), "old");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteAtomically, KeepsASymbolicLink) {
  const support::TemporaryFolder folder;
  write_atomically(folder.file("target"), "old");
  fs::create_symlink(folder.file("target"), folder.file("link"));
  write_atomically(folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_whole_file(folder.file("target")), "new");
}

TEST(WriteAtomically, NeverFollowsAPlantedTemporaryFile) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("victim"), "precious");
  fs::create_symlink(folder.file("victim"), folder.file("page.html.tmp"));
  write_atomically(folder.file("page.html"), "page");
  EXPECT_EQ(read_whole_file(folder.file("victim")), "precious");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.file("page.html"))));
}

TEST(WriteAtomically, WritesThroughADeviceAndAFifo) {
  write_atomically("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_atomically("/dev/full", "no room"), std::system_error);
  const support::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::string received;
  {
    const std::jthread reader{[&] { received = read_whole_file(folder.file("fifo")); }};
    write_atomically(folder.file("fifo"), "through");
  }
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(fs::is_fifo(folder.file("fifo")));
}

TEST(WriteAtomically, RefusesAFolder) {
  const support::TemporaryFolder folder;
  EXPECT_THROW(write_atomically(folder.path(), "x"), std::system_error);
}

TEST(WriteAtomically, TwentyWritersOfOneFileLeaveOneOfThemWhole) {
  const support::TemporaryFolder folder;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 20; ++i) {
      writers.emplace_back([&, i] {
        for (int j = 0; j < 10; ++j)
          write_atomically(folder.file("a"), std::string(20'000, static_cast<char>('a' + i)));
      });
    }
  }
  const std::string content = read_whole_file(folder.file("a"));
  EXPECT_EQ(content, std::string(20'000, content.at(0)));
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(ReplacementFile, WithANameLeavesNoneHoweverItEnds) {
  constexpr auto kNamed = ReplacementFile::Kind::kNamed;
  const support::TemporaryFolder folder;
  {
    ReplacementFile file{folder.file("a"), kNamed};
    EXPECT_THAT(folder.names(), ElementsAre(testing::StartsWith(".a.")));
    file.write("new");
    file.replace();
  }
  EXPECT_THAT(folder.names(), ElementsAre("a"));
  EXPECT_EQ(read_whole_file(folder.file("a")), "new");
  { ReplacementFile{folder.file("a"), kNamed}.write("never in its place"); }
  EXPECT_THAT(folder.names(), ElementsAre("a"));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ReplacementFile file{folder.file("a"), kNamed};
    file.write("killed");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  for (int i = 0; i < 500 && folder.names().size() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_THAT(folder.names(), ElementsAre("a"));
  EXPECT_EQ(read_whole_file(folder.file("a")), "new");
}

TEST(WriteAtomically, KeepsThePermissionsOfTheFile) {
  const support::TemporaryFolder folder;
  write_atomically(folder.file("a"), "x");
  ASSERT_EQ(::chmod(folder.file("a").c_str(), 0600), 0);
  write_atomically(folder.file("a"), "y");
  EXPECT_EQ(fs::status(folder.file("a")).permissions(), fs::perms{0600});
}

TEST(WriteAtomically, IsReadableByOthersAsTheUmaskSays) {
  const support::TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write_atomically(folder.file("a"), "x");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.file("a")).permissions(), fs::perms{0644});
}

TEST(WriteAtomically, NamesThePathThatItCannotWrite) {
  const support::TemporaryFolder folder;
  try {
    write_atomically(folder.file("missing/a"), "x");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/a"));
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(ReadWholeFile, ReadsMoreThanOneBlock) {
  const support::TemporaryFolder folder;
  const std::string content(3'000'001, 'y');
  support::write_text(folder.file("a"), content);
  EXPECT_EQ(read_whole_file(folder.file("a")), content);
  EXPECT_THROW(static_cast<void>(read_whole_file(folder.file("b"))), std::system_error);
  EXPECT_THROW(static_cast<void>(read_whole_file(folder.path())), std::system_error);
  EXPECT_THROW(static_cast<void>(read_whole_file("/dev/zero")), UsageError) << "it has no end";
  fs::resize_file(folder.file("a"), kMaxContent + 1);
  EXPECT_THROW(static_cast<void>(read_whole_file(folder.file("a"))), UsageError);
}

TEST(LineAppender, AppendsLinesAfterEmptyingTheFile) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("a"), "of another run\n");
  LineAppender appender{folder.file("a")};
  EXPECT_EQ(read_whole_file(folder.file("a")), "");
  appender.append("one");
  appender.append("two");
  EXPECT_EQ(read_whole_file(folder.file("a")), "one\ntwo\n");
}

TEST(LineAppender, TakesATornLineBack) {
  const support::TemporaryFolder folder;
  LineAppender appender{folder.file("a")};
  appender.append("one");
  {
    const support::FileSizeLimit limit{100};
    EXPECT_THROW(appender.append(std::string(200, 'x')), std::system_error);
  }
  appender.append("two");
  EXPECT_EQ(read_whole_file(folder.file("a")), "one\ntwo\n");
}

/// The output of `printf gzip | gzip -9n`.
const std::string kGzip{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xaf\xca\x2c\x00\x00\xf2\x5c\xe9\x3a\x04\x00\x00\x00", 24};

std::string text_of(std::size_t bytes) {
  std::mt19937 random{17};
  std::string text;
  while (text.size() < bytes) text += std::to_string(random()) + ", ";
  text.resize(bytes);
  return text;
}

std::string error_of(const std::string& packed) {
  try {
    static_cast<void>(unpack(packed));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

std::string file_error(const std::string& name, const std::string& content) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file(name), content);
  try {
    static_cast<void>(read_text(folder.file(name)));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PackedFile, NameSaysIt) {
  EXPECT_TRUE(is_packed_name("a.json.gz"));
  EXPECT_TRUE(is_packed_name("folder/.gz"));
  EXPECT_FALSE(is_packed_name("a.json"));
  EXPECT_FALSE(is_packed_name("a.gz.json"));
  EXPECT_FALSE(is_packed_name("gz"));
}

TEST(PackedFile, UnpacksWhatItPacked) {
  for (const std::size_t bytes : {0, 1, 8, 1000, 65'536, 65'537, 3'000'000}) {
    const std::string text = text_of(bytes);
    EXPECT_EQ(unpack(pack(text)), text) << bytes;
  }
  const std::string zeros(10'000'000, '\0');  // the highest compression of deflate
  EXPECT_LT(pack(zeros).size(), 12'000);
  EXPECT_EQ(unpack(pack(zeros)), zeros);
}

TEST(PackedFile, ReadsWhatGzipWrote) { EXPECT_EQ(unpack(kGzip), "gzip"); }

TEST(PackedFile, ReadsAllMembers) {
  EXPECT_EQ(unpack(pack("one ") + pack("") + kGzip + pack(text_of(100'000))), "one gzip" + text_of(100'000));
}

TEST(PackedFile, EqualContentGivesEqualBytes) {
  const std::string text = text_of(200'000);
  const std::string packed = pack(text);
  EXPECT_EQ(pack(text), packed);
  EXPECT_EQ(packed.substr(0, 4), (std::string{"\x1f\x8b\x08\x00", 4}));  // no flags, that is neither name nor comment
  EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0'));                  // no time
}

TEST(Packer, PacksParts) {
  const std::string text = text_of(300'000);
  for (const std::size_t part : {std::size_t{1'000}, std::size_t{65'536}, std::size_t{299'999}}) {
    Packer packer;
    std::string_view rest = text;
    for (; rest.size() > part; rest.remove_prefix(part)) packer.append(rest.substr(0, part));
    EXPECT_EQ(unpack(packer.finish(rest)), text) << part;
  }
  EXPECT_EQ(unpack(Packer{}.finish()), "");
}

TEST(PackedFile, SaysThatItIsCutOff) {
  const std::string packed = pack(text_of(200'000));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{9}, std::size_t{10}, packed.size() / 2, packed.size() - 9,
                                  packed.size() - 8, packed.size() - 4, packed.size() - 1}) {
    EXPECT_THAT(error_of(packed.substr(0, bytes)), HasSubstr("cut off after " + std::to_string(bytes) + " bytes"));
  }
  EXPECT_THAT(error_of(packed + packed.substr(0, 100)), HasSubstr("cut off"));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
}

TEST(PackedFile, SaysThatItIsCorrupt) {
  const std::string packed = pack(text_of(200'000));
  for (const std::size_t from_end : {8, 4}) {  // the CRC, the length
    std::string wrong = packed;
    wrong[wrong.size() - from_end] ^= 1;
    EXPECT_THAT(error_of(wrong), HasSubstr("corrupt")) << from_end;
  }
  std::string wrong = packed;
  for (std::size_t i = wrong.size() / 2; i < wrong.size() / 2 + 64; ++i) wrong[i] = '\x5a';
  EXPECT_THAT(error_of(wrong), HasSubstr("corrupt"));
  EXPECT_THAT(error_of("{\"context\": 1}"), HasSubstr("not gzip"));
  EXPECT_THAT(error_of(packed + "more"), HasSubstr("not gzip"));
}

TEST(PackedFile, ResultsSurviveTheDisk) {
  const support::TemporaryFolder folder;
  const ResultFile results = support::golden_file();
  write_result_file(folder.file("a.json.gz"), results);
  write_result_file(folder.file("a.json"), results);
  EXPECT_EQ(read_result_file(folder.file("a.json.gz")), results);
  EXPECT_EQ(read_text(folder.file("a.json.gz")), read_whole_file(folder.file("a.json")));
  EXPECT_LT(read_whole_file(folder.file("a.json.gz")).size(), read_whole_file(folder.file("a.json")).size() / 2);
}

TEST(PackedFile, MessagesNameFileProblemAndRemedy) {
  const std::string packed = pack(read_whole_file(TBENCH_TEST_DATA "/results_golden.json"));
  EXPECT_THAT(file_error("a.json.gz", packed), "no error");
  EXPECT_THAT(file_error("a.json.gz", packed.substr(0, 500)),
              AllOf(HasSubstr("a.json.gz'"), HasSubstr("cut off after 500 bytes"), HasSubstr("copy it again")));
  EXPECT_THAT(file_error("a.json.gz", "1.5 ms"), AllOf(HasSubstr("not gzip"), HasSubstr("a name without .gz")));
  EXPECT_THAT(file_error("a.json.gz", ""), HasSubstr("the file is empty"));
}

TEST(PackedFile, ItsBytesTellWhetherItIsPacked) {
  const support::TemporaryFolder folder;
  const auto read = [&](const char* name, const std::string& content) {
    support::write_text(folder.file(name), content);
    return read_text(folder.file(name));
  };
  EXPECT_EQ(read("a.json", pack("{}")), "{}");
  EXPECT_EQ(read("a.json.gz", " {}"), " {}");
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(read("a.json", mark + "{}"), "{}");
  EXPECT_EQ(read("a.json.gz", mark + "{}"), "{}");
  EXPECT_EQ(read("a.json", pack(mark + "{}" + mark)), "{}" + mark);
}

TEST(PackedFile, WhatItUnpacksToIsBounded) {
  const std::string packed = pack(std::string(1'000'000, '0'));
  EXPECT_EQ(unpack(packed, 1'000'000).size(), 1'000'000U);
  EXPECT_THROW(static_cast<void>(unpack(packed, 999'999)), UnpacksToTooMuch);
  EXPECT_THROW(static_cast<void>(unpack(packed + packed, 1'999'999)), UnpacksToTooMuch);
  Packer bomb;
  for (std::size_t bytes = 0; bytes <= kMaxContent; bytes += 1 << 20) bomb.append(std::string(1 << 20, ' '));
  EXPECT_THAT(file_error("bomb.json", bomb.finish()),
              AllOf(HasSubstr("bomb.json': the packed file unpacks to more than"), HasSubstr("--benchmark_out=FILE")));
}

}  // namespace
}  // namespace tbench::results
