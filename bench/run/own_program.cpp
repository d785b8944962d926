#include "bench/run/own_program.hpp"

#include <filesystem>
#include <string_view>

namespace tbench::bench {

std::string own_program() {
  constexpr std::string_view kReplaced = " (deleted)";  // suffix that Linux adds if the file was deleted
  std::string path = std::filesystem::read_symlink(kOwnExecutable).string();
  if (path.ends_with(kReplaced)) path.resize(path.size() - kReplaced.size());
  return path;
}

}  // namespace tbench::bench
