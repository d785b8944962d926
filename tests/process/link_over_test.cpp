// Tests that a file replaces another one, and that no temporary name is left.
#include "tbench/process/link_over.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace tbench::process {
namespace {

namespace fs = std::filesystem;

class LinkOver : public testing::Test {
 public:
  LinkOver() {
    folder_ = ::mkdtemp(pattern_.data());
    write("file", "new");
  }
  ~LinkOver() override { fs::remove_all(folder_); }
  LinkOver(const LinkOver&) = delete;
  LinkOver& operator=(const LinkOver&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream{path(name)} << text; }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::string text;
    std::ifstream{path(name)} >> text;
    return text;
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator{folder_}) found.insert(entry.path().filename());
    return found;
  }
  [[nodiscard]] int link() const { return link_over(path("file"), path("name"), path("target")); }

 private:
  std::string pattern_ = (fs::temp_directory_path() / "tbench_link_XXXXXX").string();
  std::string folder_;
};

TEST_F(LinkOver, TakesThePlaceOfAFileOrOfNone) {
  EXPECT_EQ(link(), 0);
  EXPECT_EQ(content("target"), "new");
  fs::remove(path("target"));
  write("target", "old");
  EXPECT_EQ(link(), 0);
  EXPECT_EQ(content("target"), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"file", "target"}));
}

TEST_F(LinkOver, SaysWhatIsWrongAndLeavesNoName) {
  fs::create_directories(path("target/below"));
  EXPECT_EQ(link(), EISDIR);
  EXPECT_EQ(names(), (std::set<std::string>{"file", "target"}));
  write("name", "another");
  EXPECT_EQ(link(), EEXIST);
  EXPECT_EQ(content("name"), "another");
  EXPECT_EQ(link_over(path("none"), path("other"), path("target")), ENOENT);
}

TEST_F(LinkOver, WorksWhereTheEndOfChildrenIsIgnored) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(link(), 0);
  std::signal(SIGCHLD, before);
  EXPECT_EQ(content("target"), "new");
}

}  // namespace
}  // namespace tbench::process
