#include "tbench/results/write_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace tbench::results {
namespace {

std::string cause_of(int error) {
  return fmt::format("{}. {}", std::generic_category().message(error), write_remedy(error));
}

}  // namespace

std::string_view write_remedy(int error) {
  switch (error) {
    case ENOSPC:
      return "Free some space there, or choose another folder.";
    case EDQUOT:
      return "Remove files of yours there, or choose another folder.";
    case EFBIG:
      return "Raise the limit of a file's size (ulimit -f), or choose another folder.";
    case EROFS:
      return "Choose a folder that is not mounted read-only.";
    case EACCES:
    case EPERM:
      return "Choose a folder that you may write to, or change the permissions.";
    case ENOENT:
    case ENOTDIR:
      return "Choose a folder that exists, or make this one.";
    case EISDIR:
      return "Choose the name of a file in it.";
    case ENAMETOOLONG:
      return "Choose a shorter name.";
    case ELOOP:
      return "Choose a name without a symbolic link.";
    case EMFILE:
    case ENFILE:
      return "Raise the limit of open files (ulimit -n), or end programs that hold many.";
    case EBADF:
      return "Start the program with its standard output open.";
    case EPIPE:
      return "Keep the program that reads it running.";
    case EIO:
    case ESTALE:
      return "Check the disk or its connection, or choose a folder elsewhere.";
    default:
      return "Choose another folder.";
  }
}

WriteError::WriteError(std::string_view action, const std::string& path, int error)
    : std::system_error{error, std::generic_category()},
      message_{fmt::format("cannot {} '{}': {}", action, path, cause_of(error))} {}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free descriptor, which is the closed stream's number.
    static_cast<void>(::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void survive_file_size_limit() { std::signal(SIGXFSZ, SIG_IGN); }

std::optional<std::string> flush_standard_output() {
  const bool has_failed = std::ferror(stdout) != 0;
  const int earlier = errno;
  const bool fails = std::fflush(stdout) != 0;
  if (!has_failed && !fails) return std::nullopt;
  constexpr std::array kOfWrites{ENOSPC, EDQUOT, EFBIG, EROFS, EBADF, EPIPE, EIO};
  const int error = fails ? errno : earlier;
  if (std::ranges::find(kOfWrites, error) != kOfWrites.end()) {
    return fmt::format("cannot write the output: {}", cause_of(error));
  }
  return "cannot write the output: a part of it is lost. Run the command again.";
}

}  // namespace tbench::results
