// Runs a program as a user does. Returns its output and exit status. Also provides a folder for its files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tbench/process/command.hpp"
#include "tbench/process/descriptor.hpp"

namespace tbench::test {

struct CommandResult {
  int status{};  // exit status; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

/// Provides a folder for each test, which is removed after it.
class InFolder : public ::testing::Test {
 protected:
  InFolder() { std::filesystem::create_directories(folder_); }
  ~InFolder() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tbench_program_test_" + std::to_string(::getpid()));
  const std::string out_ = path("out.json");
};

/// @param interrupt_once  SIGINT is sent as soon as this file exists; if empty, never
[[nodiscard]] inline CommandResult run_command(const std::vector<std::string>& words,
                                               const std::string& interrupt_once = "") {
  const auto contents = [](const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const auto new_file = [](const std::string& path) {
    return process::UniqueDescriptor{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  };
  const std::string base =
      (std::filesystem::temp_directory_path() / ("tbench_run_" + std::to_string(::getpid()))).string();
  const process::UniqueDescriptor out = new_file(base + ".out");
  const process::UniqueDescriptor err = new_file(base + ".err");
  process::Command command{words, {.out = out.get(), .err = err.get()}};
  if (!interrupt_once.empty()) {
    constexpr std::chrono::seconds kAmple{120};
    const auto end = std::chrono::steady_clock::now() + kAmple;
    while (!std::filesystem::exists(interrupt_once) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    command.signal(SIGINT);
  }
  CommandResult result{.status = command.wait(), .out = contents(base + ".out"), .err = contents(base + ".err")};
  std::filesystem::remove(base + ".out");
  std::filesystem::remove(base + ".err");
  return result;
}

}  // namespace tbench::test
