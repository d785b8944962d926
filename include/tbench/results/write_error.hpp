// A file, or the standard output, that cannot be written: the cause by its name, and what can be done about it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tbench::results {

/// The exit status of transformer_bench where it could not write what it measured. tbench has 2 for that.
inline constexpr int kExitNotWritten = 3;

/// The remedy that a user has where writing failed, as a sentence.
/// @param error  a value of errno
[[nodiscard]] std::string_view write_remedy(int error);

/// `cannot ACTION 'PATH': CAUSE. REMEDY`.
class WriteError : public std::system_error {
 public:
  /// @param action  e.g. `write`
  /// @param error   a value of errno
  WriteError(std::string_view action, const std::string& path, int error);
  [[nodiscard]] const char* what() const noexcept override { return message_.what(); }

 private:
  std::runtime_error message_;
};

/// Gives a standard stream that the process was started without a place of its own: a file that is opened would take
/// it, and get what is printed. Writes to a missing standard output still fail.
void hold_standard_streams();

/// Has a write beyond the limit of a file's size fail, as on a full disk, where it would end the process.
void survive_file_size_limit();

/// Writes what stdio still holds for the standard output.
/// @return  what went wrong, now or at an earlier write: `cannot write the output: CAUSE. REMEDY`
[[nodiscard]] std::optional<std::string> flush_standard_output();

}  // namespace tbench::results
