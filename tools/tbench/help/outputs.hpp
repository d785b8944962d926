// The files that a command of tbench writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::tool {

/// A file to write. The command names its ending; a name without an ending is right, too.
struct Output {
  std::string flag;                    // flag that names the file
  std::string path;                    // empty if there is none
  std::vector<std::string> endings{};  // with their dots; the first one is suggested; empty: any
  std::vector<std::string> formats{};  // flags that print the same in another format: `--csv`
};

/// Returns the flag that prints the format of an ending, such as `--csv` for `.csv`. Returns an empty text for other
/// endings.
[[nodiscard]] std::string_view format_flag(std::string_view ending);

/// Returns the ending of a path in lower case, with its dot; empty if it has none.
[[nodiscard]] std::string ending_of(const std::string& path);

/// Checks that an output has an ending that the command writes, and replaces no input.
/// @param inputs  files from which the output is made
/// @throws        UsageError  if it would replace an input, if a process is writing results to this path, or if the
///                            ending is another; the message names the flag that prints the format of that ending
void check_no_input(const Output& output, std::span<const std::string> inputs);

/// Checks the same as check_no_input, and that the output replaces no other results, journal or database. With `-o
/// a.json b.json`, the user probably meant a.json as an input.
void check_output(const Output& output, std::span<const std::string> inputs);

/// Checks the ending of a folder to write.
/// @throws  UsageError  if the name has the ending of a file
void check_folder_name(const Output& output);

/// Writes the output of `flag`, as a whole or not at all.
/// @throws  UsageError  if it cannot be written
void write_output(const std::string& flag, const std::string& path, const std::string& content);

}  // namespace tbench::tool
