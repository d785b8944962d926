// Simulates a file system without locks if it is loaded before the C library (LD_PRELOAD).
#include <sys/file.h>

#include <cerrno>

extern "C" int flock(int /*descriptor*/, int /*operation*/) noexcept {
  errno = ENOTSUP;
  return -1;
}
