// Tests that a folder of temporary files is removed when its owner ends, however it ends.
#include "tbench/process/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace tbench::process {
namespace {

namespace fs = std::filesystem;

void fill(const std::string& folder) {
  fs::create_directories(folder + "/below");
  std::ofstream{folder + "/below/file"} << "text";
}

TEST(Cleaner, RemovesAFileUnlessReleased) {
  const ScratchFolder folder{"tbench-test"};
  for (const bool is_released : {false, true}) {
    const std::string path = folder.path() + "/file";
    {
      Cleaner cleaner{path};
      std::ofstream{path} << "text";
      if (is_released) cleaner.release();
    }
    EXPECT_EQ(fs::exists(path), is_released);
  }
  { const Cleaner of_nothing{folder.path() + "/none"}; }
  EXPECT_TRUE(fs::exists(folder.path()));
}

TEST(ScratchFolder, GoesWithItsObject) {
  std::optional<ScratchFolder> folder{"tbench-test"};
  const std::string path = folder->path();
  EXPECT_THAT(path, testing::HasSubstr("/tbench-test-"));
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_NE(path, ScratchFolder{"tbench-test"}.path());
  fill(path);
  folder.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, GoesWithAProcessThatIsKilled) {
  Pipe pipe = make_pipe();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const ScratchFolder folder{"tbench-test"};
    fill(folder.path());
    static_cast<void>(write_some(pipe.write_end.get(), folder.path()));
    for (;;) ::pause();
  }
  pipe.write_end.reset();
  std::array<char, 1000> buffer{};
  std::string path;
  // The pipe ends when the process ends, because the process that removes the folder does not hold it open.
  for (Transfer got = read_some(pipe.read_end.get(), buffer); got.state == Transfer::State::kMoved;
       got = read_some(pipe.read_end.get(), buffer)) {
    path.append(buffer.data(), got.bytes);
    ::kill(pid, SIGKILL);
  }
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_THAT(path, testing::HasSubstr("/tbench-test-"));
  for (int i = 0; i < 500 && fs::exists(path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace tbench::process
