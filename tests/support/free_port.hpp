// Finds a free TCP port on this host, and limits how long a program waits for a name server.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace tbench::support {

/// Options of the resolver, in the form of RES_OPTIONS. c10d looks up the names of the clients of a store. If no name
/// server answers, this takes at least five seconds by default.
inline constexpr const char* kImpatientResolver = "timeout:1 attempts:1";

/// Sets these options for this process. Call it before other threads start.
inline void make_resolver_impatient() {
  constexpr int kReplace = 1;
  ::setenv("RES_OPTIONS", kImpatientResolver, kReplace);
}

/// Returns whether no program listens on the port.
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

/// Returns a random free port below 32768. From there on, the kernel gives ports to connections by default, so another
/// program's connection could take such a port before the caller does.
/// @throws  std::runtime_error  if no port is free
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
