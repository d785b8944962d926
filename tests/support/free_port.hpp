// A TCP port of this host that nobody listens on, and how long a name server is waited for.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace tbench::support {

/// Options of the resolver, as RES_OPTIONS takes them. c10d looks up the names of those who connect to a store; where
/// no name server answers, that takes five seconds and more by default.
inline constexpr const char* kImpatientResolver = "timeout:1 attempts:1";

/// Sets them for this process. Before it has other threads.
inline void make_resolver_impatient() {
  constexpr int kReplace = 1;
  ::setenv("RES_OPTIONS", kImpatientResolver, kReplace);
}

/// Whether nobody listens on the port now.
inline bool is_free(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool is_bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return is_bound;
}

/// A random port below those that the kernel gives to connections of programs that run at the same time (32768 and up,
/// unless somebody has changed that), which may take one of theirs before its user does.
/// @throws  std::runtime_error  if there is none
inline std::uint16_t free_port() {
  static std::random_device random;
  std::uniform_int_distribution<std::uint16_t> ports{10'000, 32'000};
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const std::uint16_t port = ports(random);
    if (is_free(port)) return port;
  }
  throw std::runtime_error{"no free port on the loopback interface"};
}

}  // namespace tbench::support
