#include "bench/author/tools.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "bench/run/own_program.hpp"

namespace tbench::bench {
namespace {

namespace fs = std::filesystem;

/// Returns the first of the paths, relative to this program's folder, that is a file; nullopt if none is.
std::optional<std::string> first_file(std::initializer_list<std::string> paths) {
  const fs::path folder = fs::path{own_program()}.parent_path();
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path file = (folder / path).lexically_normal();
    if (fs::is_regular_file(file, error)) return file.string();
  }
  return std::nullopt;
}

/// Returns the path of the LibTorch that this process has loaded; empty if LibTorch is not a separate file.
std::string loaded_libtorch() {
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find("/libtorch_cpu.so", path) != std::string::npos) return line.substr(path);
  }
  return {};
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::string> find_tool(const std::string& name) {
  return first_file({"../share/transformer_bench/tools/" + name, "../../../tools/" + name});
}

std::optional<std::string> find_tbench() { return first_file({"tbench", "../tools/tbench/tbench"}); }

std::string find_python() {
  const std::string torch = loaded_libtorch();
  const std::size_t library = torch.find("/lib/python3");
  if (library != std::string::npos) {
    const std::string python = torch.substr(0, library) + "/bin/python3";
    if (::access(python.c_str(), X_OK) == 0) return python;
  }
  return "python3";
}

std::string package_cache() {
  std::string root = variable("XDG_CACHE_HOME");
  if (root.empty() && !variable("HOME").empty()) root = variable("HOME") + "/.cache";
  if (root.empty())
    throw std::runtime_error{"neither XDG_CACHE_HOME nor HOME is set: set one for the cache of packages"};
  const std::string folder = root + "/transformer_bench";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || ::access(folder.c_str(), W_OK) != 0) {
    throw std::runtime_error{fmt::format(
        "the cache of packages '{}' cannot be written: set XDG_CACHE_HOME to a folder that can be", folder)};
  }
  return folder;
}

}  // namespace tbench::bench
