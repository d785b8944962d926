// Exceptions that mean something to the program as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace tbench {

/// The user asked for something that makes no sense. The message names the input, the value and what would be right;
/// `main` prints it on stderr and exits with kExitUsage before any work is done.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The case cannot run here, which building or verifying it showed. This is a result, like a reason that is known
/// before.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device had not enough memory for a case: a result, not a failure of the program.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& message, std::optional<std::int64_t> requested_bytes)
      : std::runtime_error{message}, requested_bytes_{requested_bytes} {}
  /// Bytes of the allocation that failed, where the allocator told.
  [[nodiscard]] std::optional<std::int64_t> requested_bytes() const { return requested_bytes_; }

 private:
  std::optional<std::int64_t> requested_bytes_;
};

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailedCase = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

}  // namespace tbench
