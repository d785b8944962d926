// Errors in writing a file or the standard output, with the name of the cause and a remedy.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tbench::results {

/// The exit status of transformer_bench if it could not write its results. tbench uses 2 for that.
inline constexpr int kExitNotWritten = 3;

/// Returns a sentence with the user's remedy for a failed write.
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

/// Reserves the descriptors of standard streams that the process was started without. Otherwise a file opened later
/// would get such a descriptor, and receive the printed text. Writes to a missing standard output still fail.
void hold_standard_streams();

/// Makes a write beyond the file size limit fail, as on a full disk, instead of ending the process.
void survive_file_size_limit();

/// Flushes the standard output.
/// @return  the error of this or an earlier write: `cannot write the output: CAUSE. REMEDY`; nullopt if there is none
[[nodiscard]] std::optional<std::string> flush_standard_output();

}  // namespace tbench::results
