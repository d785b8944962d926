// Exceptions with a meaning for the whole program, and its exit statuses.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace tbench {

/// An invalid request by the user. The message names the input, the value and the correct form; `main` prints it on
/// stderr and exits with kExitUsage before any work is done.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Building or verifying a case showed that it cannot run here. This is a result, as if Case::unsupported_reason() had
/// returned the reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device did not have enough memory for a case: a result, not a failure of the program.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& message, std::optional<std::int64_t> requested_bytes)
      : std::runtime_error{message}, requested_bytes_{requested_bytes} {}
  /// Returns the size of the failed allocation in bytes, if the allocator reported it.
  [[nodiscard]] std::optional<std::int64_t> requested_bytes() const { return requested_bytes_; }

 private:
  std::optional<std::int64_t> requested_bytes_;
};

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailedCase = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

}  // namespace tbench
