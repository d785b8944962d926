// Loaded before the C library (LD_PRELOAD): a file system without locks.
#include <sys/file.h>

#include <cerrno>

extern "C" int flock(int /*descriptor*/, int /*operation*/) noexcept {
  errno = ENOTSUP;
  return -1;
}
